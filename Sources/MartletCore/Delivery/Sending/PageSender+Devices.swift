import MartletHTTP
import MartletModel

extension PageSender {
    /// Removes from a group the devices that must not be sent to now, and postpones their pushes.
    /// - Returns: The admission of the devices that stay in the group; the caller must end it after the group was sent.
    ///   Returns nil if these devices need no admission.
    func admit(_ group: inout RecipientGroup, of job: Job, tally: inout PageTally) -> LaneCircuitBreakers.Admission? {
        let lane = job.delivery.lane
        // A test send needs no admission: it is never postponed, and its result does not affect the lane.
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
        leaveProbeOfLane(group, of: job, tally: &tally)
        return admission
    }

    /// Admits a push that tests the origin of its device. Such pushes are rare, so they do not wait for the device.
    /// - Returns: The admission, which the caller must end after the push was sent; nil if the push needs none.
    func admitTest(_ push: inout RecipientGroup, of job: Job, tally: inout PageTally) -> LaneCircuitBreakers.Admission?
    {
        guard job.delivery.id != .none, let index = push.indices.first else { return nil }
        let admission = lanes.begin(job.page.identity(of: index), in: job.delivery.lane, at: time.now)
        push.trials = admission.trials
        leaveProbeOfLane(push, of: job, tally: &tally)
        return admission
    }

    /// Lets another page become the probe of the lane, if all devices that this page is sent to are known to fail. Their
    /// results say little about the lane.
    private func leaveProbeOfLane(_ group: RecipientGroup, of job: Job, tally: inout PageTally) {
        guard job.isProbe, isTrial(group.indices, of: group, job) else { return }
        lanes.endProbe(job.delivery.lane)
        tally.leaveProbe()
    }

    /// Returns whether the push to each of these devices is a trial. A push to a device that is known to fail is a
    /// trial.
    func isTrial(_ indices: [Int], of group: RecipientGroup, _ job: Job) -> Bool {
        !group.trials.isEmpty && indices.allSatisfy { group.trials.contains(job.page.identity(of: $0)) }
    }

    /// Splits a group into the trials of failing devices and all other pushes. Returns nil if one of the two new groups
    /// would be empty.
    func separateTrials(
        of group: RecipientGroup, _ job: Job
    ) -> (trials: RecipientGroup, others: RecipientGroup)? {
        guard !group.trials.isEmpty else { return nil }
        var (trials, others) = (group, group)
        trials.indices = group.indices.filter { isTrial([$0], of: group, job) }
        others.indices = group.indices.filter { !isTrial([$0], of: group, job) }
        return trials.indices.isEmpty || others.indices.isEmpty ? nil : (trials, others)
    }

    /// Records the evidence that the results of a batch give about its devices, its origin and its lane.
    /// - Parameter indices: The indices, in the page, of the members that were sent to.
    func record(
        _ successes: Int, _ answers: [ResultCollector.Answer], to indices: [Int], of group: RecipientGroup, _ job: Job,
        startedAt: Timestamp, role: OriginCircuitBreaker.Role, tally: inout PageTally
    ) {
        guard job.delivery.id != .none, successes + answers.count > 0 else { return }
        let (lane, now) = (job.delivery.lane, time.now)
        let evidence = evidence(successes, answers, of: job, startedAt: startedAt)
        let found = lanes.record(
            evidence, reached: reached(answers, indices, job), trials: group.trials, in: lane, at: now)
        // If devices have chosen the origin, the result says nothing about the lane, and is recorded for the origin
        // only.
        guard let origin = group.origin else { return tally.add(found.verdict) }
        let hold = origins.record(
            found.news, answers.map(\.outcome), lane, origin, role: role, at: now)
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

    /// Returns the devices from which an answer came. Returns an empty array if no device of the lane is known to fail,
    /// because then nobody needs the result. Also returns an empty array if sending was stopped, because then some
    /// devices were not sent to.
    private func reached(_ answers: [ResultCollector.Answer], _ indices: [Int], _ job: Job) -> [DeviceIdentity] {
        guard lanes.hasFailingDevices(in: job.delivery.lane), !job.isStopped else { return [] }
        let failed = Set(answers.lazy.filter { $0.status == nil }.map(\.index))
        return indices.filter { !failed.contains($0) }.map(job.page.identity)
    }
}
