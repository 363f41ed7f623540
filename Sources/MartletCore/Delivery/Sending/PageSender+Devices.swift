import MartletHTTP
import MartletModel

extension PageSender {
    /// Removes from a group the devices that must not be sent to now; their pushes are postponed.
    /// - Returns: The admission to end when the group is done; nil if there is none.
    func admit(_ group: inout RecipientGroup, of job: Job, tally: inout PageTally) -> LaneCircuitBreakers.Admission? {
        let lane = job.delivery.lane
        // A test send is never postponed, and its result does not affect the lane.
        guard job.delivery.id != .none, lanes.tracks(group.indices.count, in: lane) else { return nil }
        let admission = lanes.begin(
            group.indices.map(job.page.identity), in: lane, isProbe: job.isProbe,
            expiry: job.delivery.expiresAt, at: time.now, trialDuration: requestTimeout)
        group.trials = admission.trials
        if !admission.waits.isEmpty {
            for (index, wait) in admission.waits {
                tally.putOff(addressee(group.indices[index], of: job), until: wait.until, wait.outcome)
            }
            group.indices = group.indices.indices.filter { admission.waits[$0] == nil }.map { group.indices[$0] }
        }
        if job.isProbe, isTrial(group.indices, of: group, job) {
            // The probe is left to another page, because a device that is not known to fail is a better probe of the
            // lane.
            lanes.endProbe(lane)
            tally.leaveProbe()
        }
        return admission
    }

    /// Returns whether the pushes to all of these devices are trials, because the devices are known to fail.
    func isTrial(_ indices: [Int], of group: RecipientGroup, _ job: Job) -> Bool {
        !group.trials.isEmpty && indices.allSatisfy { group.trials.contains(job.page.identity(of: $0)) }
    }

    /// Splits off the push that probes a paused origin. The probe goes to a device that is not known to fail, if there
    /// is one.
    func divide(_ group: RecipientGroup, of job: Job) -> (probe: RecipientGroup, rest: RecipientGroup) {
        var (probe, rest) = (group, group)
        let index = group.indices.firstIndex { !isTrial([$0], of: group, job) } ?? 0
        probe.indices = [rest.indices.remove(at: index)]
        return (probe, rest)
    }

    /// Records what the results of a batch show about its devices, its origin and its lane.
    /// - Parameter indices: The devices that were sent to.
    func record(
        _ successes: Int, _ answers: [ResultCollector.Answer], to indices: [Int], of group: RecipientGroup, _ job: Job,
        startedAt: Timestamp, isProbe: Bool, tally: inout PageTally
    ) {
        guard job.delivery.id != .none, successes + answers.count > 0 else { return }
        let (lane, now) = (job.delivery.lane, time.now)
        let evidence = evidence(successes, answers, of: job, startedAt: startedAt)
        let found = lanes.record(
            evidence, reached: reached(answers, indices, job), trials: group.trials, in: lane, at: now)
        // The result at an origin that a device has chosen says nothing about the lane.
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

    /// Returns the devices for which the service answered, if any device of the lane is known to fail. Returns an empty
    /// array if sending was stopped, because then some devices were not sent to.
    private func reached(_ answers: [ResultCollector.Answer], _ indices: [Int], _ job: Job) -> [DeviceIdentity] {
        guard lanes.hasFailingDevices(in: job.delivery.lane), !job.isStopped else { return [] }
        let failed = Set(answers.lazy.filter { $0.status == nil }.map(\.index))
        return indices.filter { !failed.contains($0) }.map(job.page.identity)
    }
}
