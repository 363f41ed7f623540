import MartletModel

/// Sends pages in such an order that, of two notifications with the same collapse key, the newer one arrives last.
struct CollapseSender: Sendable {
    let notifications: any NotificationStore
    let reader: PageReader
    let sender: PageSender
    /// The collapse locks, which all senders of one store must share.
    let locks: CollapseLocks
    let time: any TimeSource

    /// Sends the pushes of a page, or of a round of retries, except to devices that will get a newer notification with
    /// the same collapse key.
    /// - Parameter indices: The indices, in the page, of the members to send to.
    /// - Returns: False if nothing was sent. Either a page of another notification to the same devices was in progress,
    ///   and has ended by now, or this notification was stopped before its first push. The caller must read its page
    ///   again, because the audience may have changed.
    func send(
        _ job: PageSender.Job, _ content: inout DeliveryContent, indices: [Int], tally: inout PageTally
    ) async throws(StorageError) -> Bool {
        guard let collapse = job.delivery.notification.collapse,
            let key = collapse.key(on: job.delivery.platform), !indices.isEmpty
        else {
            var job = job
            if !indices.isEmpty { job.map = try reader.map(of: job.delivery, job.page) }
            await sender.send(job, &content, indices: indices, tally: &tally)
            return true
        }
        let scope = CollapseLockTable.Scope(lane: job.delivery.lane, key: key)
        var rest = indices
        var lock = locks.take(scope, devices(at: rest, of: job, collapse))
        if lock == nil {
            // Superseded pushes are not sent. So they need not wait for the lock that the page in progress holds.
            rest = try await suppressSuperseded(job, collapse, key, indices: rest, isLocked: false, tally: &tally)
            if rest.isEmpty { return true }
            lock = locks.take(scope, devices(at: rest, of: job, collapse))
        }
        guard let lock else {
            await locks.wait(scope, devices(at: rest, of: job, collapse))
            return false
        }
        defer { locks.end(lock) }
        // The store is read again while the lock is held, because a newer notification may have been sent before the
        // lock was taken.
        rest = try await suppressSuperseded(job, collapse, key, indices: rest, isLocked: true, tally: &tally)
        if rest.isEmpty { return true }
        return try await begin(job, &content, indices: rest, tally: &tally)
    }

    /// Sends, after making sure that the delivery has a progress map. The map shows that the delivery has begun. So a
    /// delivery that has only waited for others, or that was stopped before its first push, has none.
    /// - Returns: False if the delivery has not begun.
    private func begin(
        _ job: PageSender.Job, _ content: inout DeliveryContent, indices: [Int], tally: inout PageTally
    ) async throws(StorageError) -> Bool {
        var job = job
        let isFirst = !reader.maps.hasMap(of: job.delivery.id)
        if isFirst && job.isStopped { return false }
        job.map = try reader.map(of: job.delivery, job.page)
        let held = tally.heldCount
        await sender.send(job, &content, indices: indices, tally: &tally)
        guard isFirst, tally.heldCount - held == indices.count else { return true }
        try reader.maps.remove(job.delivery.id)
        return false
    }

    /// Counts a device as superseded if it gets a newer notification instead. A newer notification that was canceled or
    /// has expired before anything of it was sent supersedes nothing from then on.
    /// - Parameter isLocked: Whether the lock on the devices is held. Without the lock, such a notification may be
    ///   about to send. Then no device is counted.
    /// - Returns: The indices of the devices that are not superseded.
    private func suppressSuperseded(
        _ job: PageSender.Job, _ collapse: Collapse, _ key: String, indices: [Int], isLocked: Bool,
        tally: inout PageTally
    ) async throws(StorageError) -> [Int] {
        let notification = job.delivery.notification
        let query = CollapseQuery(
            delivery: job.delivery.rank, hub: notification.hub, platform: job.delivery.platform, key: key,
            devices: devices(at: indices, of: job, collapse), target: notification.target, now: time.now)
        var found = try await notifications.superseded(query)
        while case let unsent = found.unsent.filter({ !reader.maps.hasMap(of: $0) }), !unsent.isEmpty {
            guard isLocked else { return indices }
            for delivery in unsent { try await notifications.supersedeNothing(delivery, in: notification.hub) }
            found = try await notifications.superseded(query)
        }
        guard !found.devices.isEmpty else { return indices }
        let superseded = Set(found.devices.map { indices[$0] })
        for index in superseded {
            tally.supersede(job.page.members[index], attempts: job.attempts.isEmpty ? 0 : job.attempts[index])
        }
        tally.recordNewer(found.newest)
        return indices.filter { !superseded.contains($0) }
    }

    private func devices(at indices: [Int], of job: PageSender.Job, _ collapse: Collapse) -> CollapseDevices {
        let members = indices.map { job.page.members[$0] }
        guard case .direct = job.delivery.notification.target else {
            guard !job.page.followed.isEmpty else { return .channels(members.map(\.channel)) }
            return .followed(
                indices.map {
                    FollowedRegistration(registration: job.page.followed[$0], member: job.page.members[$0].channel)
                })
        }
        // In a direct send, the registration number of a member is the position of its handle in the list of handles,
        // from 1.
        return .handleKeys(members.map { collapse.handleKeys[Int($0.registration) - 1] })
    }
}
