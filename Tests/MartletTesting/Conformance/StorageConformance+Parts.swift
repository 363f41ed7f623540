import MartletCore
import MartletModel

extension StorageConformance {
    static let parts: [Requirement] = [
        Requirement("A canary begins with its sample, and comes back as it was") { bench in
            let (notification, deliveries) = try await bench.acceptedCanary()
            try require(deliveries.map(\.part), is: [DeliveryPart(number: 0, side: .sample)])
            try require(try await bench.unfinished(), is: deliveries.map(\.id))
            let stored = try await bench.storage.deliveries(of: notification.sequence, on: nil)
            try require(stored.map(\.delivery.part), is: deliveries.map(\.part))
            try require(stored.first?.delivery.notification.rollout, is: bench.canary)
            let status = try require(try await bench.storage.status(notification.id, in: notification.hub))
            try require(status.canary, is: CanaryState(sample: .size(2), wait: .seconds(600)))
            try require(status.waitingParts, is: 1)
            try require(status.deliveries.map(\.side), is: [.sample])
        },
        Requirement("The threshold of a sample is stored once, and its deliveries have it") { bench in
            let (notification, deliveries) = try await bench.acceptedCanary()
            for threshold in [UInt64.max - 5, 7] {
                let sample = CountedSample(threshold: threshold, audience: 3, isWholeAudience: false)
                let record = try await bench.storage.setSample(sample, ofRollout: notification.sequence)
                try require(record, is: RolloutRecord(audience: 3, lastSentAt: nil, threshold: .max - 5))
            }
            try await bench.endSample(deliveries[0])
            _ = try await bench.storage.control(.resume, notification.id, in: notification.hub, at: bench.now)
            let begun = try await bench.storage.release(due: bench.now, limit: 9)
            try require(begun.deliveries.map(\.part?.threshold), is: [.max - 5])
            let other = CountedSample(threshold: 1, audience: 1, isWholeAudience: false)
            try require(try await bench.storage.setSample(other, ofRollout: .max) == nil, is: true)
        },
        Requirement("A canary holds from the end of its sample until it is resumed, and only then") { bench in
            let (notification, deliveries) = try await bench.acceptedCanary()
            let (id, hub) = (notification.id, notification.hub)
            _ = try await bench.storage.control(.resume, id, in: hub, at: bench.now)
            try require(try await bench.storage.status(id, in: hub)?.canary?.releasedAt == nil, is: true)
            try await bench.endSample(deliveries[0])
            let holding = try require(try await bench.storage.status(id, in: hub))
            try require(holding.isHolding, is: true)
            try require(holding.canary?.heldAt, is: bench.now)
            try require(holding.report.state, is: .processing)
            try require(try await bench.storage.hasEnded(notification.sequence), is: false)
            try require(try await bench.storage.nextDue(), is: bench.now + .seconds(600))
            try require(try await bench.storage.release(due: bench.now, limit: 9).deliveries.count, is: 0)

            let later = bench.now + .seconds(5)
            _ = try await bench.storage.control(.resume, id, in: hub, at: later)
            _ = try await bench.storage.control(.resume, id, in: hub, at: later + .seconds(5))
            let released = try require(try await bench.storage.status(id, in: hub))
            try require(released.canary?.releasedAt, is: later)
            try require(released.countedFrom, is: SendCounts(succeeded: 2))
            let begun = try await bench.storage.release(due: later, limit: 9)
            try require(begun.count, is: 1)
            try require(begun.deliveries.map(\.part?.side), is: [.rest])
            try require(begun.deliveries.map(\.part?.lead), is: [deliveries[0].id])
            try require(begun.deliveries.map(\.bounds), is: [deliveries[0].bounds])
            try require(try await bench.storage.nextDue() == nil, is: true)
            try await bench.storage.record(
                DeliveryStep(
                    delivery: begun.deliveries[0].id, isFannedOut: true, state: .completed, endedAt: later,
                    counts: [.success: 1]))
            try require(try await bench.storage.hasEnded(notification.sequence), is: true)
            let report = try require(try await bench.storage.report(id, in: hub))
            try require(report.state, is: .completed)
            try require(report.counts, is: [bench.platform: [.success: 3]])
        },
        Requirement("A canary whose wait is over is due once, and never while it is paused") { bench in
            let (notification, deliveries) = try await bench.acceptedCanary()
            try await bench.endSample(deliveries[0])
            let over = bench.now + .seconds(600)
            func due(at now: Timestamp) async throws -> [Int64] {
                try await bench.storage.canariesDue(at: now, limit: 9).map(\.notification)
            }
            try require(try await due(at: over + .milliseconds(-1)), is: [])
            try require(try await due(at: over), is: [notification.sequence])
            _ = try await bench.storage.control(.pause, notification.id, in: notification.hub, at: over)
            try require(try await due(at: over), is: [])
            try require(try await bench.storage.nextDue(), is: notification.expiresAt)
            _ = try await bench.storage.control(.release, notification.id, in: notification.hub, at: over)
            let paused = try require(try await bench.storage.status(notification.id, in: notification.hub))
            try require(paused.control, is: .paused)
            try require(paused.canary?.releasedAt == nil, is: true)
            _ = try await bench.storage.control(.resume, notification.id, in: notification.hub, at: over)
            try require(try await due(at: over), is: [notification.sequence])
            try await bench.storage.recordWaitingForAnswers(of: notification.sequence, at: over)
            try require(try await due(at: over), is: [])
        },
        Requirement("The gate of a canary opens when it is canceled, and when it expires") { bench in
            for isCanceled in [true, false] {
                let (notification, deliveries) = try await bench.acceptedCanary()
                try await bench.endSample(deliveries[0])
                let end = isCanceled ? bench.now : notification.expiresAt
                if isCanceled {
                    _ = try await bench.storage.control(.cancel, notification.id, in: notification.hub, at: bench.now)
                }
                let begun = try await bench.storage.release(due: end, limit: 9)
                try require(begun.deliveries.map(\.part?.side), is: [.rest])
                // What expired stays expired, also if the clock is set back then.
                let expiry = isCanceled ? nil : Timestamp(milliseconds: 0)
                try require(begun.deliveries.map(\.part?.expiresAt), is: [expiry])
                try await bench.storage.record(
                    DeliveryStep(
                        delivery: begun.deliveries[0].id, isFannedOut: true, state: isCanceled ? .canceled : .abandoned,
                        endedAt: end))
                try require(try await bench.storage.hasEnded(notification.sequence), is: true)
                try require(try await bench.storage.nextDue() == nil, is: true)
                let report = try require(try await bench.storage.report(notification.id, in: notification.hub))
                try require(report.state, is: isCanceled ? .canceled : .abandoned)
            }
        },
        Requirement("A hold that began after now, as the clock was set back, begins now") { bench in
            let (notification, deliveries) = try await bench.acceptedCanary()
            let (id, hub) = (notification.id, notification.hub)
            try await bench.endSample(deliveries[0])
            for now in [bench.now, bench.now + .seconds(599)] {
                try await bench.storage.correctHolds(at: now)
                try require(try await bench.holdBegan(notification), is: bench.now)
            }
            let earlier = bench.now + .seconds(-3600)
            _ = try await bench.storage.control(.pause, id, in: hub, at: earlier)
            try await bench.storage.correctHolds(at: earlier)
            try require(try await bench.holdBegan(notification), is: earlier)
            _ = try await bench.storage.control(.resume, id, in: hub, at: earlier)
            try require(try await bench.storage.nextDue(), is: earlier + .seconds(600))
            _ = try await bench.storage.control(.resume, id, in: hub, at: earlier)
            try await bench.storage.correctHolds(at: earlier + .seconds(-60))
            try require(try await bench.holdBegan(notification), is: earlier)
        },
        Requirement("A canary that was opened after now, as the clock was set back, begins now") { bench in
            for wish in [ControlRequest.resume, .cancel] {
                let (notification, deliveries) = try await bench.acceptedCanary()
                let (id, hub) = (notification.id, notification.hub)
                try await bench.endSample(deliveries[0])
                _ = try await bench.storage.control(wish, id, in: hub, at: bench.now + .seconds(3600))
                try require(try await bench.storage.release(due: bench.now, limit: 9).count, is: 0)
                try await bench.storage.correctHolds(at: bench.now)
                let begun = try await bench.storage.release(due: bench.now, limit: 9)
                try require(begun.deliveries.map(\.part?.side), is: [.rest])
            }
        },
        Requirement("A canary that was judged is judged again only if its time to wait is not over any more") { bench in
            let (notification, deliveries) = try await bench.acceptedCanary()
            try await bench.endSample(deliveries[0])
            let over = bench.now + .seconds(600)
            try await bench.storage.recordWaitingForAnswers(of: notification.sequence, at: over)
            try await bench.storage.correctHolds(at: over)
            try require(try await bench.storage.canariesDue(at: over, limit: 9).count, is: 0)
            try await bench.storage.correctHolds(at: over + .milliseconds(-1))
            try require(try await bench.storage.canariesDue(at: over + .milliseconds(-1), limit: 9).count, is: 0)
            let again = try await bench.storage.canariesDue(at: over, limit: 9)
            try require(again.map(\.notification), is: [notification.sequence])
        },
        Requirement("Nothing waits where everybody is in the sample") { bench in
            let (notification, deliveries) = try await bench.acceptedCanary()
            _ = try await bench.storage.setSample(
                CountedSample(threshold: .max, audience: 2, isWholeAudience: true), ofRollout: notification.sequence)
            try await bench.endSample(deliveries[0])
            try require(try await bench.storage.hasEnded(notification.sequence), is: true)
            try require(try await bench.storage.nextDue() == nil, is: true)
        },
        Requirement("A scheduled canary that is replaced or canceled leaves no part") { bench in
            let hub = try await bench.hub()
            try await bench.put("1", "a", in: hub)
            var draft = bench.canaryDraft(hub)
            draft.dueAt = bench.now + .seconds(60)
            guard case .accepted(let notification, _) = try await bench.storage.accept(draft) else { return }
            draft.rollout = nil
            draft.laterParts = []
            _ = try await bench.storage.replace(draft)
            let begun = try await bench.storage.release(due: bench.now + .seconds(60), limit: 9)
            try require(begun.deliveries.map(\.part), is: [nil])
            try require(try await bench.storage.status(notification.id, in: hub)?.waitingParts, is: 0)
            draft = bench.canaryDraft(hub)
            draft.dueAt = bench.now + .seconds(60)
            _ = try await bench.storage.accept(draft)
            _ = try await bench.storage.cancel(draft.id, in: hub, at: bench.now)
            try require(try await bench.storage.nextDue() == nil, is: true)
        },
        Requirement("A page of a sample or a rest has only its members, and says where it stopped") { bench in
            let hub = try await bench.hub()
            for number in 1...30 { try await bench.put("\(number)", "device\(number)", in: hub) }
            let hash = MessageIDKey(1, 2).sampleHash(of: NotificationID(at: bench.now))
            var query = AudienceQuery(
                hub: hub, platform: bench.platform, expression: nil, throughChannel: ChannelID(rawValue: .max),
                limit: 100, now: bench.now)
            let all = try await bench.storage.audience(query).members
            var count = AudienceCountQuery(hub: hub, expression: nil, kind: .native, now: bench.now)
            count.sampling = AudienceCountQuery.Sampling(hash: hash, lowest: LowestHashes(limit: 10))
            let lowest = try require(try await bench.storage.audienceCount(count).lowestHashes)
            try require(lowest.seen, is: 30)
            var found: [AudienceMember] = []
            for side in [SampleSide.sample, .rest] {
                let sample = AudienceSample(hash: hash, threshold: lowest.threshold, side: side)
                query.sample = sample
                (query.after, query.limit) = (.none, 4)
                var members: [AudienceMember] = []
                while true {
                    let page = try await bench.storage.audience(query)
                    members += page.members
                    try require(page.members.allSatisfy { sample.contains($0.number) }, is: true)
                    if page.isLast { break }
                    query.after = try require(page.stoppedAt ?? page.members.last)
                }
                try require(members.count, is: side == .sample ? 10 : 20)
                found += members
            }
            try require(found.sorted(), is: all)
        },
    ]
}

extension StorageBench {
    var canary: Rollout {
        Rollout(
            .rate(50), halt: Rollout.Halt(share: 200, statesAnswers: false), sample: .size(2), wait: .seconds(600))
    }

    func canaryDraft(_ hub: Hub.ID) -> NotificationDraft {
        var draft = notificationDraft(hub)
        draft.expiresAt = now + .seconds(86_400)
        draft.rollout = canary
        draft.laterParts = [WaitingPart(number: 1, side: .rest, expiresAt: draft.expiresAt)]
        return draft
    }

    func acceptedCanary() async throws -> (Notification, [Delivery]) {
        let hub = try await hub("canaries\(Int.random(in: 0..<1_000_000))")
        for number in 1...3 { try await put("\(number)", "bird\(number)", in: hub) }
        return try await accepted(canaryDraft(hub))
    }

    /// Returns the time when a canary began to hold; nil if it does not hold.
    func holdBegan(_ notification: Notification) async throws -> Timestamp? {
        try await storage.status(notification.id, in: notification.hub)?.canary?.heldAt
    }

    /// Records the end of a canary's sample, with two successes.
    func endSample(_ delivery: Delivery) async throws {
        var step = DeliveryStep(
            delivery: delivery.id, isFannedOut: true, state: .completed, endedAt: now, counts: [.success: 2])
        step.sampleEndsAt = now
        try await storage.record(step)
    }
}
