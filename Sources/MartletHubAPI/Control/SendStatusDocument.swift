public import MartletCore
public import MartletModel

/// The state of a notification, as JSON, for the hub's API and the admin API.
public struct SendStatusDocument: Sendable {
    private let status: SendStatus
    private let now: Timestamp

    /// - Parameter now: The current time, which determines whether a canary waits for answers.
    public init(_ status: SendStatus, at now: Timestamp) {
        self.status = status
        self.now = now
    }

    public var json: JSON {
        let report = status.report
        let platforms = Dictionary(grouping: status.deliveries, by: \.report.platform).map { platform, deliveries in
            (platform.rawValue, JSON.object(self.members(of: deliveries)))
        }
        var counts: [OutcomeName: Int] = [:]
        for delivery in status.deliveries { counts.merge(delivery.report.counts, uniquingKeysWith: +) }
        var members = Self.members(
            state: report.state, counts: counts, startedAt: report.startedAt, endedAt: report.endedAt,
            SendNumbers(status))
        members["notification"] = .string(report.notification.id.description)
        let control = status.isHolding ? "holding" : status.control.shown(in: report.state)?.rawValue
        members["control"] = control.map(JSON.string) ?? .null
        members["controlledAt"] = Self.timestamp(status.controlledAt)
        members["author"] = status.origin.text.map(JSON.string) ?? .null
        members["acceptedAt"] = .string(report.notification.acceptedAt.iso8601)
        members["dueAt"] = Self.timestamp(report.notification.dueAt)
        members["expiresAt"] = .string(report.notification.expiresAt.iso8601)
        members["rollout"] = report.notification.rollout.map(rollout) ?? .null
        members["platforms"] = .object(Dictionary(uniqueKeysWithValues: platforms))
        if status.waitingParts > 0 { members["partsWaiting"] = .integer(Int64(status.waitingParts)) }
        if let sample = status.sample {
            members["sample"] = [
                "size": Self.number(status.sampleSize), "targeted": Self.number(sample.targeted),
                "succeeded": .integer(Int64(sample.succeeded)), "failed": .integer(Int64(sample.failed)),
                "retrying": .integer(Int64(sample.retrying)),
            ]
        }
        if status.isHolding {
            members["goesOnAt"] = Self.timestamp(status.canary?.goesOnAt)
            if status.waitsForAnswers(at: now) { members["waitsFor"] = "answers" }
        }
        return .object(members)
    }

    private func rollout(_ rollout: Rollout) -> JSON {
        var members: [String: JSON] = [
            "spec": .string(rollout.description), "audience": status.audience.map { .integer(Int64($0)) } ?? .null,
            "rate": rollout.rate(for: status.audience).map { .double($0) } ?? .null, "halt": .null,
        ]
        if let halt = rollout.halt {
            members["halt"] = ["percent": .double(Double(halt.share) / 100), "answers": .integer(Int64(halt.answers))]
        }
        return .object(members)
    }

    /// Returns the state and the numbers of one platform, for all parts of the notification together.
    private func members(of deliveries: [DeliveryStatus]) -> [String: JSON] {
        let waits = status.waitingParts > 0
        let report = NotificationReport(
            status.report.notification, begunAt: status.report.notification.acceptedAt,
            isCanceled: deliveries.contains { $0.report.state == .canceled }, hasWaitingParts: waits,
            deliveries.map(\.report))
        var numbers = SendNumbers(deliveries)
        if waits { (numbers.targeted, numbers.pending) = (nil, nil) }
        return Self.members(
            state: report.state, counts: report.counts.values.first ?? [:], startedAt: report.startedAt,
            endedAt: report.endedAt, numbers)
    }

    private static func members(
        state: NotificationState, counts: [OutcomeName: Int], startedAt: Timestamp?, endedAt: Timestamp?,
        _ numbers: SendNumbers
    ) -> [String: JSON] {
        [
            "state": .string(state.rawValue), "startedAt": timestamp(startedAt), "endedAt": timestamp(endedAt),
            "targeted": number(numbers.targeted), "sent": .integer(Int64(numbers.sent)),
            "succeeded": .integer(Int64(numbers.succeeded)), "failed": .integer(Int64(numbers.failed)),
            "retrying": .integer(Int64(numbers.retrying)), "suppressed": .integer(Int64(numbers.suppressed)),
            "skipped": .integer(Int64(numbers.skipped)), "pending": number(numbers.pending),
            "outcomes": .object(
                Dictionary(counts.map { ($0.rawValue, .integer(Int64($1))) }) { first, _ in first }),
        ]
    }

    private static func timestamp(_ timestamp: Timestamp?) -> JSON { timestamp.map { .string($0.iso8601) } ?? .null }

    private static func number(_ number: Int?) -> JSON { number.map { .integer(Int64($0)) } ?? .null }
}
