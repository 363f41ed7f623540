import MartletHTTP
import MartletModel

// Origins that devices have chosen.
extension PageSender {
    /// Sends as many pushes of a group as the circuit breaker of its origin allows: all pushes, one push that tests the
    /// origin, or none. The pushes that it does not allow are postponed, or wait for the end of the test in progress.
    func send(_ group: RecipientGroup, to origin: HTTPOrigin, of job: Job, tally: inout PageTally) async {
        let lane = job.delivery.lane
        var rest = group
        while !rest.indices.isEmpty {
            if job.isStopped { return hold(rest.indices, of: job, tally: &tally) }
            let working = firstWorking(of: rest, at: origin, job)
            switch origins.enter(
                lane, origin, areFailing: working == nil, at: time.now, probeDuration: requestTimeout)
            {
            case .free: return await sendToDevices(of: rest, of: job, tally: &tally)
            case .paused(let until, let cause):
                for index in rest.indices { tally.putOff(addressee(index, of: job), until: until, cause) }
                return
            case .probed(let cause):
                for index in rest.indices { tally.awaitProbe(of: origin, addressee(index, of: job), cause) }
                return
            case .probe:
                var probe = rest
                probe.indices = [rest.indices.remove(at: working ?? 0)]
                await test(origin, with: probe, of: job, as: working == nil ? .trial : .probe, tally: &tally)
            }
        }
    }

    /// Returns the position, in the indices of a group, of the first device that is not known to fail; nil if all of
    /// them are. If the origin is not paused, the result has no meaning.
    private func firstWorking(of group: RecipientGroup, at origin: HTTPOrigin, _ job: Job) -> Int? {
        // The result of a test send is not recorded, so it does not matter to which device it goes.
        guard job.delivery.id != .none, !origins.isOpen(job.delivery.lane, origin) else { return 0 }
        return lanes.firstWorking(of: group.indices.map(job.page.identity), in: job.delivery.lane)
    }

    /// Sends one push, which tests an origin after a pause.
    private func test(
        _ origin: HTTPOrigin, with push: RecipientGroup, of job: Job, as role: OriginCircuitBreaker.Role,
        tally: inout PageTally
    ) async {
        let lane = job.delivery.lane
        var push = push
        let admission = admitTest(&push, of: job, tally: &tally)
        await sendFreely(push, of: job, as: role, tally: &tally)
        if let admission { lanes.end(admission, in: lane, at: time.now) }
        origins.end(role, lane, origin, at: time.now)
    }
}
