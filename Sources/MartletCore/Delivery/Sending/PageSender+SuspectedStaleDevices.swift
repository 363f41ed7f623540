import MartletHTTP
import MartletModel

extension PageSender {
    /// Finds the suspects among those that a job is for. In a fan-out they are set aside, to be sent to when the page is
    /// done with, so that they hold nobody up; among retries they are noted in the job.
    func separateSuspectedStale(
        _ job: inout Job, _ indices: inout [Int], _ service: any PushService, tally: inout PageTally
    ) async {
        // A test send has no delivery that could come back to them.
        guard type(of: service).slowsConnectionsOfSuspects, job.delivery.id != .none else { return }
        let suspects = await suspects.indices(in: job.page, of: job.delivery.lane, at: time.now)
        guard !suspects.isEmpty else { return }
        guard job.attempts.isEmpty else {
            job.suspects = suspects
            return
        }
        for index in indices where suspects.contains(index) { tally.setAside(addressee(index, of: job)) }
        indices.removeAll(where: suspects.contains)
    }

    func split(_ group: RecipientGroup, by suspects: Set<Int>) -> [RecipientGroup] {
        var standard = group
        var own = group
        standard.indices = group.indices.filter { !suspects.contains($0) }
        own.indices = group.indices.filter(suspects.contains)
        own.areSuspects = true
        return [standard, own].filter { !$0.indices.isEmpty }
    }

    /// Suspects that were reached are none any more.
    /// - Parameter held: Places of those that were not sent to.
    func clear(
        _ indices: [Int], _ answers: [ResultCollector.Answer], _ held: [Int], of job: Job, tally: inout PageTally
    ) {
        let others = Set(answers.lazy.filter { !$0.outcome.isSuccess }.map(\.index) + held)
        for index in indices where !others.contains(index) { tally.trust(job.page.channel(index)) }
    }

    /// How many retries of a lane go in one round.
    func retryLimit(of lane: LaneID, _ standard: Int) async -> Int {
        await suspects.channels(of: lane, at: time.now).isEmpty
            ? standard : min(standard, SuspectedStaleDevices.roundLimit)
    }

    /// What is to be done about the handles of a page.
    /// - Parameter believed: Who is believed to be gone; the others that were called dead are suspected.
    func feedback(
        of tally: PageTally, gone believed: [ChannelFeedback], _ lane: SendContext
    ) -> [ChannelFeedback] {
        let feedback = tally.handles.replaced + believed
        guard case .by(let service) = lane.sending, type(of: service).slowsConnectionsOfSuspects else {
            return feedback
        }
        let gone = Set(feedback.map(\.channel))
        let added = suspects.change(
            lane.id, adding: Set(tally.lane.calledDead + tally.handles.throttled).subtracting(gone),
            removing: gone.union(tally.handles.trusted))
        return feedback + added.map { ChannelFeedback(channel: $0, kind: .suspected) }
            + tally.handles.trusted.map { ChannelFeedback(channel: $0, kind: .trusted) }
    }
}
