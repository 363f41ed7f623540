import MartletHTTP
import MartletModel

extension PageSender {
    /// Finds the devices of a job that are suspected to be stale. In a fan-out they are set aside, to be sent to when the page is
    /// done with, so that they hold nobody up; among retries they are noted in the job.
    func separateSuspectedStale(
        _ job: inout Job, _ indices: inout [Int], _ service: any PushService, tally: inout PageTally
    ) async {
        // A test send has no delivery that could come back to them.
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

    /// Devices that were reached are not suspected any more.
    /// - Parameter held: Places of those that were not sent to.
    func clear(
        _ indices: [Int], _ answers: [ResultCollector.Answer], _ held: [Int], of job: Job, tally: inout PageTally
    ) {
        let others = Set(answers.lazy.filter { !$0.outcome.isSuccess }.map(\.index) + held)
        for index in indices where !others.contains(index) { tally.trust(job.page.channel(index)) }
    }

    /// How many retries of a lane go in one round.
    func retryLimit(of lane: LaneID, _ standard: Int) async -> Int {
        await suspectedStale.channels(of: lane, at: time.now).isEmpty
            ? standard : min(standard, SuspectedStaleDevices.roundLimit)
    }

    /// What is to be done about the handles of a page.
    /// - Parameter believed: Who is believed to be gone; the others that were called dead are suspected.
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
