import MartletHTTP
import MartletModel

extension PageSender {
    /// Finds the suspected stale devices of a page. In a fan-out, removes these devices from the indices and turns
    /// their pushes into retries, so that other devices are not delayed. In a round of retries, marks these devices in
    /// the job.
    func separateSuspectedStale(
        _ job: inout Job, _ indices: inout [Int], _ service: any PushService, tally: inout PageTally
    ) async {
        // A test send has no retries in which these devices could be sent to later, so it sends to them together with
        // all other devices.
        guard type(of: service).slowsConnectionsOfStaleDevices, job.delivery.id != .none else { return }
        let suspectedStale = await suspectedStale.indices(in: job.page, of: job.delivery.lane, at: time.now)
        guard !suspectedStale.isEmpty else { return }
        guard job.attempts.isEmpty else {
            job.suspectedStale = suspectedStale
            return
        }
        for index in indices where suspectedStale.contains(index) { tally.setAside(addressee(index, of: job)) }
        indices.removeAll(where: suspectedStale.contains)
    }

    func split(_ group: RecipientGroup, by suspectedStale: Set<Int>) -> [RecipientGroup] {
        var standard = group
        var own = group
        standard.indices = group.indices.filter { !suspectedStale.contains($0) }
        own.indices = group.indices.filter(suspectedStale.contains)
        own.areSuspectedStale = true
        return [standard, own].filter { !$0.indices.isEmpty }
    }

    /// Records in the tally that those suspected stale devices that were reached are no longer suspected.
    /// - Parameter held: The indices of the devices that were not sent to.
    func clear(
        _ indices: [Int], _ answers: [ResultCollector.Answer], _ held: [Int], of job: Job, tally: inout PageTally
    ) {
        let others = Set(answers.lazy.filter { !$0.outcome.isSuccess }.map(\.index) + held)
        for index in indices where !others.contains(index) { tally.trust(job.page.channel(index)) }
    }

    /// Returns the maximum number of retries in one round. It is lower if the lane has suspected stale devices.
    func retryLimit(of lane: LaneID, _ standard: Int) async -> Int {
        await suspectedStale.channels(of: lane, at: time.now).isEmpty
            ? standard : min(standard, SuspectedStaleDevices.roundLimit)
    }

    /// Returns the changes that the store must make to the handles of a page.
    /// - Parameter believed: The feedback about devices that are accepted as gone. All other devices that were reported
    ///   as gone become suspected stale.
    func feedback(
        of tally: PageTally, gone believed: [ChannelFeedback], _ lane: SendContext
    ) -> [ChannelFeedback] {
        let feedback = tally.handles.replaced + believed
        guard case .by(let service) = lane.sending, type(of: service).slowsConnectionsOfStaleDevices else {
            return feedback
        }
        let gone = Set(feedback.map(\.channel))
        let added = suspectedStale.change(
            lane.id, adding: Set(tally.lane.calledDead + tally.handles.throttled).subtracting(gone),
            removing: gone.union(tally.handles.trusted))
        return feedback + added.map { ChannelFeedback(channel: $0, kind: .suspected) }
            + tally.handles.trusted.map { ChannelFeedback(channel: $0, kind: .trusted) }
    }
}
