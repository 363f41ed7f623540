import MartletHTTP
import MartletModel

extension PageSender {
    /// Lets those devices of a parcel be sent to that may be now; the pushes to the others wait.
    /// - Returns: What is to be ended when the parcel is done with; nil where nothing is.
    func admit(_ group: inout RecipientGroup, of job: Job, tally: inout PageTally) -> LaneCircuitBreakers.Admission? {
        let lane = job.delivery.lane
        // A test send is made whatever is known, and nothing follows from it.
        guard job.delivery.id != .none, lanes.tracks(group.indices.count, in: lane) else { return nil }
        let admission = lanes.begin(
            group.indices.map(job.page.identity), in: lane, isProbe: job.isProbe,
            expiry: job.delivery.notification.expiresAt, at: time.now, trialDuration: requestTimeout)
        group.trials = admission.trials
        if !admission.waits.isEmpty {
            for (index, wait) in admission.waits {
                tally.putOff(addressee(group.indices[index], of: job), until: wait.until, wait.outcome)
            }
            group.indices = group.indices.indices.filter { admission.waits[$0] == nil }.map { group.indices[$0] }
        }
        if job.isProbe, isTrial(group.indices, of: group, job) {
            // Others, of which nothing is known, show more.
            lanes.endProbe(lane)
            tally.leaveProbe()
        }
        return admission
    }

    /// Whether all of some devices are known to fail.
    func isTrial(_ indices: [Int], of group: RecipientGroup, _ job: Job) -> Bool {
        !group.trials.isEmpty && indices.allSatisfy { group.trials.contains(job.page.identity(of: $0)) }
    }

    /// Takes the push that shows whether an origin is well again, to a device that does not fail where there is one.
    func divide(_ group: RecipientGroup, of job: Job) -> (probe: RecipientGroup, rest: RecipientGroup) {
        var (probe, rest) = (group, group)
        let index = group.indices.firstIndex { !isTrial([$0], of: group, job) } ?? 0
        probe.indices = [rest.indices.remove(at: index)]
        return (probe, rest)
    }

    /// Records what a batch has shown of its devices, its origin and its lane.
    /// - Parameter indices: Those that were sent to.
    func record(
        _ successes: Int, _ answers: [ResultCollector.Answer], to indices: [Int], of group: RecipientGroup, _ job: Job,
        startedAt: Timestamp, isProbe: Bool, tally: inout PageTally
    ) {
        guard job.delivery.id != .none, successes + answers.count > 0 else { return }
        let (lane, now) = (job.delivery.lane, time.now)
        let evidence = evidence(successes, answers, of: job, startedAt: startedAt)
        let found = lanes.record(
            evidence, reached: reached(answers, indices, job), trials: group.trials, in: lane, at: now)
        // An address that a device has chosen says nothing of the lane.
        guard let origin = group.origin else { return tally.add(found.verdict) }
        let hold = origins.record(
            found.news, answers.map(\.outcome), lane, origin, isProbe: isProbe, at: now)
        if let hold { tally.addHold(hold) }
    }

    private func evidence(
        _ successes: Int, _ answers: [ResultCollector.Answer], of job: Job, startedAt: Timestamp
    ) -> PushEvidence {
        var evidence = PushEvidence(startedAt: startedAt)
        evidence.answers = successes
        for answer in answers {
            switch answer.failure {
            case nil: evidence.answers += answer.status == nil ? 0 : 1
            case .unreachable: evidence.unreachable += 1
            case .request, .connection:
                guard evidence.hasRoom else { continue }
                evidence.add(
                    PushEvidence.Failure(
                        device: job.page.identity(of: answer.index),
                        connection: answer.failure == .connection ? answer.connection : nil, outcome: answer.outcome))
            }
        }
        return evidence
    }

    /// Devices that were answered, where any of the lane is known to fail. Where everything stops, some were not sent to.
    private func reached(_ answers: [ResultCollector.Answer], _ indices: [Int], _ job: Job) -> [DeviceIdentity] {
        guard lanes.hasFailingDevices(in: job.delivery.lane), !job.isStopped else { return [] }
        let failed = Set(answers.lazy.filter { $0.status == nil }.map(\.index))
        return indices.filter { !failed.contains($0) }.map(job.page.identity)
    }
}
