import MartletCore
import MartletModel

/// Telemetry of one notification. The order of the elements is binding; what is empty is left out (wire document,
/// section 8.1).
struct NotificationDetails {
    let report: NotificationReport
    let descriptor: PushPlatformDescriptor
    /// Its absolute address with the query.
    let url: String

    func document() -> [UInt8] {
        var writer = XMLWriter(reserving: 1024 + report.notification.message.body.count)
        writer.element(
            "NotificationDetails", ["xmlns": XMLNamespace.service, "xmlns:i": XMLNamespace.instance], write)
        return writer.bytes
    }

    private func write(_ details: inout XMLWriter) {
        let notification = report.notification
        details.element("NotificationId", text: notification.id.description)
        details.element("Location", text: url)
        details.element("State", text: report.state.rawValue)
        details.element("EnqueueTime", text: notification.acceptedAt.iso8601)
        if let start = report.startedAt { details.element("StartTime", text: start.iso8601) }
        if let end = report.endedAt { details.element("EndTime", text: end.iso8601) }
        details.element("NotificationBody", text: String(decoding: notification.message.body, as: UTF8.self))
        if case .audience(let expression?) = notification.target {
            details.element("Tags", text: expression.description)
        }
        details.element("TargetPlatforms", text: descriptor.format)
        writeCounts(&details)
    }

    private func writeCounts(_ details: inout XMLWriter) {
        let counts = report.counts.filter { $0.value > 0 }.sorted { Self.rank($0.key) < Self.rank($1.key) }
        guard !counts.isEmpty else { return }
        details.element(descriptor.outcomeCountsElement) { element in
            for (name, count) in counts {
                element.element("Outcome") { outcome in
                    outcome.element("Name", text: name.rawValue)
                    outcome.element("Count", text: String(count))
                }
            }
        }
    }

    /// Successes first, then by name.
    private static func rank(_ name: OutcomeName) -> String {
        name == .success ? "" : name.rawValue
    }
}
