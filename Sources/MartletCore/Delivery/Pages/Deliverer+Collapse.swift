import MartletModel

extension Deliverer {
    /// Sends the pushes of a page, or of a round of retries, and spares those whose devices are to get a newer
    /// notification with the same collapse key instead.
    /// - Parameter places: Whom of the page it is for.
    /// - Returns: Whether it was the page's turn. Where it was not, nothing was sent, and by now whom the page is for may be
    ///   somebody else.
    func sendInTurn(
        _ job: PageSender.Job, _ content: inout DeliveryContent, indices: [Int], tally: inout PageTally
    ) async throws(StorageError) -> Bool {
        guard let collapse = job.delivery.notification.collapse, !indices.isEmpty else {
            await sender.send(job, &content, indices: indices, tally: &tally)
            return true
        }
        let scope = CollapseLockTable.Scope(lane: job.delivery.lane, key: collapse.key)
        var rest = indices
        var turn = turns.take(scope, devices(at: rest, of: job, collapse))
        if turn == nil {
            // What is superseded is not sent, so that it need not wait for what is under way.
            rest = try await suppressSuperseded(job, collapse, indices: rest, tally: &tally)
            if rest.isEmpty { return true }
            turn = turns.take(scope, devices(at: rest, of: job, collapse))
        }
        guard let turn else {
            await turns.wait(scope, devices(at: rest, of: job, collapse))
            return false
        }
        defer { turns.end(turn) }
        // Asked again in its turn: a newer one may have gone out in the meantime.
        rest = try await suppressSuperseded(job, collapse, indices: rest, tally: &tally)
        await sender.send(job, &content, indices: rest, tally: &tally)
        return true
    }

    /// Counts the devices that are to get a newer notification instead.
    /// - Returns: The others.
    private func suppressSuperseded(
        _ job: PageSender.Job, _ collapse: Collapse, indices: [Int], tally: inout PageTally
    ) async throws(StorageError) -> [Int] {
        let notification = job.delivery.notification
        let found = try await notifications.superseded(
            CollapseQuery(
                delivery: job.delivery.rank, hub: notification.hub, platform: job.delivery.platform,
                key: collapse.key, devices: devices(at: indices, of: job, collapse), target: notification.target,
                now: time.now))
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
        // Members of a direct send are places in its list, from 1.
        return .handleKeys(members.map { collapse.handleKeys[Int($0.registration) - 1] })
    }
}

extension Delivery {
    /// As which it is ordered among those with its collapse key.
    fileprivate var rank: Delivery.ID { notification.resend?.rank ?? id }
}
