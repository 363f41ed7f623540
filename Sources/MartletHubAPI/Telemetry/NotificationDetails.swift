import MartletCore
import MartletModel

/// The telemetry of one notification. Clients depend on the order of the elements. Empty elements are omitted
/// (NotificationHubs.md, section 8.1).
struct NotificationDetails {
    let report: NotificationReport
    let platforms: PushPlatformList
    /// The absolute URL of this telemetry, with the query.
    let url: String
    /// The URL of the feedback file with the refused pushes; nil if no push was refused.
    let errorsURL: String?

    /// The index of the element `PnsErrorDetailsUri`. The outcome counts of platforms with this or a higher index are
    /// written after that element.
    private static let errorsIndex = 5

    func document() -> [UInt8] {
        var writer = XMLWriter(reserving: 1024 + report.notification.content.body.count)
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
        if !notification.isConfidential {
            details.element("NotificationBody", text: String(decoding: notification.content.body, as: UTF8.self))
        }
        if case .audience(let expression?) = notification.target {
            details.element("Tags", text: expression.description)
        }
        details.element("TargetPlatforms", text: targetPlatforms.joined(separator: ","))
        let descriptors = platforms.map { $0.descriptor }.sorted { $0.outcomeCounts.index < $1.outcomeCounts.index }
        for descriptor in descriptors where descriptor.outcomeCounts.index < Self.errorsIndex {
            write(report.counts[descriptor.platform] ?? [:], of: descriptor, to: &details)
        }
        if let errorsURL { details.element("PnsErrorDetailsUri", text: errorsURL) }
        for descriptor in descriptors where descriptor.outcomeCounts.index >= Self.errorsIndex {
            write(report.counts[descriptor.platform] ?? [:], of: descriptor, to: &details)
        }
        // The original service has no element `DroppedFromBody`. It is written last, because the .NET client ignores
        // unknown elements only at the end (NotificationHubs.md, section 8.1).
        let dropped = dropped
        if !dropped.isEmpty { details.element("DroppedFromBody", text: dropped.joined(separator: ", ")) }
    }

    /// The names of the elements that the platform drops from a native notification, as the sender wrote them. The
    /// array is empty for other notifications, because the elements that a template send loses depend on the templates.
    private var dropped: [String] {
        guard case .native(let platform, let message) = report.notification.content else { return [] }
        return platforms[platform]?.dropped(from: message) ?? []
    }

    /// The names of the target platforms. The platforms of a template send or a composed message are not known before
    /// the notification begins. Until then, the format stands for them.
    private var targetPlatforms: [String] {
        switch report.notification.content {
        case .native(let platform, _): [platforms[platform]?.descriptor.format ?? platform.rawValue]
        case .template where report.platforms.isEmpty: ["template"]
        case .message where report.platforms.isEmpty: ["message"]
        case .message: report.platforms.map { platforms[$0]?.descriptor.format ?? $0.rawValue }
        case .template: report.platforms.map { (platforms[$0]?.descriptor.format ?? $0.rawValue) + "template" }
        }
    }

    private func write(
        _ counts: [OutcomeName: Int], of descriptor: PushPlatformDescriptor, to details: inout XMLWriter
    ) {
        let counts = counts.filter { $0.value > 0 }.sorted { Self.rank($0.key) < Self.rank($1.key) }
        guard !counts.isEmpty else { return }
        details.element(descriptor.outcomeCounts.element) { element in
            for (name, count) in counts {
                element.element("Outcome") { outcome in
                    outcome.element("Name", text: name.rawValue)
                    outcome.element("Count", text: String(count))
                }
            }
        }
    }

    /// Returns the sort key of an outcome: success comes first, then the others by name.
    private static func rank(_ name: OutcomeName) -> String {
        name == .success ? "" : name.rawValue
    }
}
