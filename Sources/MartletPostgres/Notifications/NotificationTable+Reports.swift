import MartletCore
import MartletModel

extension NotificationTable {
    func status(_ id: NotificationID) throws(StorageError) -> SendStatus? {
        guard let found = try find(id) else { return nil }
        let sequence = found.notification.sequence
        let deliveries = try DeliveryTable(session).statuses(of: sequence)
        let waiting = try waitingParts(of: found)
        let rollout = found.notification.rollout
        return SendStatus(
            report: Self.report(found, deliveries.map(\.report), waitingParts: waiting), control: found.control,
            controlledAt: found.controlledAt, audience: found.audience,
            countedFrom: rollout == nil ? SendCounts() : found.countedFrom, deliveries: deliveries,
            canary: rollout?.sample.map { sample in
                CanaryState(sample: sample, wait: rollout?.wait, heldAt: found.heldAt, releasedAt: found.releasedAt)
            }, waitingParts: waiting, origin: try origin(of: found))
    }

    private static func report(
        _ found: StoredNotification, _ deliveries: [DeliveryReport], waitingParts: Int
    ) -> NotificationReport {
        guard let begunAt = found.begunAt else {
            return NotificationReport(
                found.notification, waiting: found.finishedAt == nil ? .scheduled : .canceled,
                endedAt: found.finishedAt)
        }
        return NotificationReport(
            found.notification, begunAt: begunAt, isCanceled: found.control == .canceled,
            hasWaitingParts: waitingParts > 0, deliveries)
    }

    private func waitingParts(of found: StoredNotification) throws(StorageError) -> Int {
        found.hasParts && found.finishedAt == nil
            ? try PartTable(session).waitingCount(of: found.notification.sequence) : 0
    }

    func traced(_ id: NotificationID) throws(StorageError) -> TracedNotification? {
        guard let found = try find(id) else { return nil }
        return TracedNotification(
            notification: found.notification, begunAt: found.begunAt, control: found.control,
            controlledAt: found.controlledAt,
            deliveries: try DeliveryTable(session).progress(ofNotification: found.notification.sequence),
            hasWaitingParts: try waitingParts(of: found) > 0, origin: try origin(of: found))
    }

    /// Returns a notification as an entry of a list of sends.
    func entry(_ found: StoredNotification) throws(StorageError) -> SendEntry {
        let reports = try DeliveryTable(session).statuses(of: found.notification.sequence).map(\.report)
        let waiting = try waitingParts(of: found)
        // Only a canary with a part that waits can hold.
        let isHolding = waiting > 0 && found.notification.rollout?.sample != nil && found.isHolding
        return SendEntry(
            report: Self.report(found, reports, waitingParts: waiting), control: found.control, isHolding: isHolding,
            goesOnAt: isHolding ? found.goesOnAt : nil, origin: try origin(of: found))
    }

    private func origin(of found: StoredNotification) throws(StorageError) -> SendOrigin {
        guard let resend = found.notification.resend else { return SendOrigin(author: found.author) }
        let original = try session.first(
            "SELECT id FROM notifications WHERE shard = $1 AND sequence = $2", resend.original
        ) { row throws(StorageError) in
            var columns = ColumnReader(row)
            return try columns.notificationID()
        }
        return SendOrigin(author: found.author, isResend: true, original: original)
    }
}
