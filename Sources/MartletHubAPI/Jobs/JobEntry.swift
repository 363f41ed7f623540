import MartletCore
import MartletModel

/// A job as an Atom entry. Clients depend on the order of the elements and on the prefix `d3p1` (NotificationHubs.md,
/// sections 9.1 and 16, traps 17 and 18).
struct JobEntry {
    let job: Job
    /// The absolute URL of the entry, including the query.
    let url: String

    func document() -> [UInt8] {
        var writer = XMLWriter()
        writer.element("entry", ["xmlns": XMLNamespace.atom], write)
        return writer.bytes
    }

    func append(to feed: inout XMLWriter) {
        feed.element("entry", [:], write)
    }

    private func write(_ entry: inout XMLWriter) {
        entry.element("id", text: url)
        entry.element("title", ["type": "text"], text: job.id)
        entry.element("published", text: job.createdAt.iso8601)
        entry.element("updated", text: job.updatedAt.iso8601)
        entry.emptyElement("link", ["rel": "self", "href": url])
        entry.element("content", ["type": "application/xml"]) { content in
            content.element(
                "NotificationHubJob", ["xmlns": XMLNamespace.service, "xmlns:i": XMLNamespace.instance], writeJob)
        }
    }

    /// Writes the job. As long as its status is `Started`, the elements `Progress` and `Status` are omitted, as in the
    /// original service (NotificationHubs.md, section 9.1).
    private func writeJob(_ element: inout XMLWriter) {
        element.element("JobId", text: job.id)
        if job.status != .started { element.element("Progress", text: Self.percent(job.progress)) }
        element.element("Type", text: job.kind.rawValue)
        if job.status != .started { element.element("Status", text: job.status.rawValue) }
        element.element("OutputContainerUri", text: job.outputURL)
        if let input = job.input { element.element("ImportFileUri", text: input.url) }
        if let failure = job.failure { element.element("Failure", text: failure) }
        if job.status.isFinal {
            element.element("OutputProperties", ["xmlns:d3p1": XMLNamespace.arrays]) { properties in
                for file in Job.File.allCases {
                    properties.element("d3p1:KeyValueOfstringstring") { pair in
                        pair.element("d3p1:Key", text: file.property)
                        pair.element("d3p1:Value", text: job.path(of: file))
                    }
                }
            }
        }
        element.element("CreatedAt", text: job.createdAt.iso8601)
        element.element("UpdatedAt", text: job.updatedAt.iso8601)
    }

    /// Formats a percentage with two decimals.
    private static func percent(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
