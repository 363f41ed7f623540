import MartletModel

/// Limits the pages of roll-outs to their rate, finds the samples of canaries, and halts a roll-out when too many of
/// its pushes fail.
struct RolloutPacer: Sendable {
    let notifications: any NotificationStore & ControlStore
    let devices: any DeviceStore
    let hubs: HubDirectory
    let board: ControlRegistry
    let controls: SendControls
    let messageIDs: MessageIDKey
    let alarm: ScheduleAlarm
    /// Runs the counts of audiences for canaries one after another.
    private let counting = SerialWork()
    let time: any TimeSource
    /// Receives messages for the operator, without secrets.
    let log: @Sendable (String) -> Void

    /// The decision about how many pushes a roll-out may send now.
    enum Admission {
        /// The given number of pushes may be sent now.
        case now(Int)
        case later(Timestamp)
        /// The notification was deleted with its hub.
        case unknown
    }

    /// Returns how many pushes of a page may be sent now. If no rate of a roll-out applies to the delivery, the whole
    /// page may be sent.
    /// - Parameter wanted: The maximum number of members of the page.
    func admit(_ run: DeliveryRun, for wanted: Int) async throws(StorageError) -> Admission {
        let notification = run.delivery.notification
        guard let rollout = notification.rollout, isPaced(run.delivery) else { return .now(wanted) }
        if !board.hasMeter(notification.sequence) {
            guard let record = try await notifications.record(ofRollout: notification.sequence),
                let rate = try await rate(of: rollout, record, run.delivery)
            else { return .unknown }
            let now = time.now
            // The clock was set back after the last page. Without the correction, each further meter would begin with
            // nothing until the clock has caught up. If the server starts often, a slow roll-out would then send
            // nothing at all.
            if let last = record.lastSentAt, last > now {
                try await notifications.correctLastSending(ofRollout: notification.sequence, at: now)
            }
            board.startMeter(
                of: notification.sequence, in: notification.hub, rate: rate, lastSentAt: record.lastSentAt, at: now)
        }
        return switch board.turn(of: notification.sequence, for: wanted, at: time.now) {
        case .now(let count): .now(count)
        case .later(let timestamp): .later(timestamp)
        }
    }

    /// Returns whether the rate of a roll-out applies to a delivery. The sample of a canary is sent as fast as
    /// possible.
    private func isPaced(_ delivery: Delivery) -> Bool {
        delivery.notification.rollout?.pace != nil && delivery.part?.side != .sample
    }

    /// Returns whether the pages of a delivery may wait on purpose. They may wait for the rate of the roll-out, for the
    /// start of a later part, or because the notification is paused, has halted itself, or holds.
    func waitsOnPurpose(_ delivery: Delivery) -> Bool {
        isPaced(delivery) || delivery.part?.lead != nil || board.wasControlled(delivery.notification.sequence)
    }

    /// Returns to the roll-out's meter those admitted pushes that were not sent, so that other pages can use them.
    func giveBack(_ count: Int, of delivery: Delivery) {
        guard delivery.notification.rollout != nil, count > 0 else { return }
        board.giveBack(count, of: delivery.notification.sequence)
    }

    /// Returns whether the delivery belongs to a roll-out and has a retry that is due. Returns false for every other
    /// notification. The retries of such a notification are sent after all its pages, so that failing devices do not
    /// delay other devices.
    func isRetryDue(_ delivery: Delivery) async throws(StorageError) -> Bool {
        guard delivery.notification.rollout != nil, let due = try await notifications.nextRetry(of: delivery.id) else {
            return false
        }
        return due <= time.now
    }

    /// Finds the rate of a roll-out. Counts the audience first, if the rate depends on it and it was not counted yet.
    /// - Returns: The rate in pushes per second; nil if the notification does not exist any more.
    private func rate(
        of rollout: Rollout, _ record: RolloutRecord, _ delivery: Delivery
    ) async throws(StorageError) -> Double? {
        if let rate = rollout.rate(for: record.audience.map { rest(of: $0, rollout) }) { return rate }
        let audience = try await notifications.setAudience(
            try await count(delivery), ofRollout: delivery.notification.sequence)
        return rollout.rate(for: audience.map { rest(of: $0, rollout) })
    }

    /// Returns the number of members of an audience that are not in the sample of a canary. If there is no sample, all
    /// members are counted.
    private func rest(of audience: Int, _ rollout: Rollout) -> Int {
        switch rollout.sample {
        case nil: audience
        case .size(let size): max(audience - size, 0)
        case .share(let share): audience - audience * share / 10_000
        }
    }

    /// Counts the audience of a notification on all its platforms.
    private func count(_ delivery: Delivery) async throws(StorageError) -> Int {
        let notification = delivery.notification
        switch notification.target {
        case .direct(let handles): return handles.count
        case .audience(let expression):
            var query = AudienceCountQuery(
                hub: notification.hub, expression: expression, kind: delivery.isOfTemplates ? .template : .native,
                bounds: delivery.bounds, now: time.now)
            switch notification.content {
            case .native: query.platform = delivery.platform
            case .template: break
            // A composed message is counted on all platforms. The query has no bounds, because the bounds apply only to
            // the platform of this delivery.
            case .message: query.bounds = nil
            }
            let count = try await devices.audienceCount(query)
            return count.platforms.reduce(0) { sum, part in
                if case .message(let content) = notification.content, content.omits(part.key) { return sum }
                return sum + part.value.native + part.value.templates
            }
        }
    }

    // MARK: Canaries

    /// Sets, in a delivery, the threshold of a canary's sample: the highest hash in the sample. If the threshold is not
    /// known yet, it is determined by counting the audience, and is stored before anything is sent.
    /// - Returns: False if the notification does not exist any more.
    func setThreshold(_ delivery: inout Delivery) async throws(StorageError) -> Bool {
        guard delivery.part?.threshold == nil else { return true }
        let found = await counting.run { [delivery] in
            do throws(StorageError) {
                return Result<UInt64?, StorageError>.success(try await self.threshold(of: delivery))
            } catch {
                return .failure(error)
            }
        }
        guard let threshold = try found.get() else { return false }
        delivery.part?.threshold = threshold
        return true
    }

    private func threshold(of delivery: Delivery) async throws(StorageError) -> UInt64? {
        let notification = delivery.notification
        guard let record = try await notifications.record(ofRollout: notification.sequence) else { return nil }
        if let threshold = record.threshold { return threshold }
        guard case .size(let size) = notification.rollout?.sample else { return .max }
        let hash = messageIDs.sampleHash(of: notification.id)
        let lowest = try await lowestHashes(LowestHashes(limit: size), hash, of: notification)
        let sample = CountedSample(
            threshold: lowest.threshold, audience: lowest.seen, isWholeAudience: lowest.seen <= size)
        return try await notifications.setSample(sample, ofRollout: notification.sequence)?.threshold
    }

    /// Finds the lowest sample hashes among the members of a notification's audience. Only members within the bounds of
    /// the notification's deliveries are considered.
    private func lowestHashes(
        _ start: LowestHashes, _ hash: SampleHash, of notification: Notification
    ) async throws(StorageError) -> LowestHashes {
        var lowest = start
        guard case .audience(let expression) = notification.target else {
            if case .direct(let handles) = notification.target {
                for number in handles.indices { lowest.insert(hash(Int64(number) + 1)) }
            }
            return lowest
        }
        for delivery in try await notifications.deliveries(of: notification.sequence, on: nil).map(\.delivery)
        where delivery.part?.side == .sample {
            var query = AudienceCountQuery(
                hub: notification.hub, expression: expression, platform: delivery.platform,
                kind: delivery.isOfTemplates ? .template : .native, bounds: delivery.bounds, now: time.now)
            query.sampling = AudienceCountQuery.Sampling(hash: hash, lowest: lowest)
            lowest = try await devices.audienceCount(query).lowestHashes ?? lowest
        }
        return lowest
    }

    /// Wakes the scheduler after the last page of a sample was sent. The scheduler then finds out when the wait of the
    /// canary is over.
    func sampleWasSent() {
        alarm.ring()
    }

    /// Decides again about a canary whose wait is over, but which had too few answers. Called after each further
    /// answer.
    func evaluateIfDue(_ delivery: Delivery) async throws(StorageError) {
        let notification = delivery.notification
        guard delivery.part?.side == .sample, notification.rollout?.wait != nil,
            board.control(of: notification.sequence) == .running
        else { return }
        try await controls.evaluateCanary(notification.id, in: notification.hub, at: time.now)
    }

    // MARK: Too many failures

    /// Halts a roll-out if too many of its pushes fail, and logs the halt.
    /// - Parameter counts: The outcomes that the last step has added.
    func haltIfNeeded(_ delivery: Delivery, _ counts: [OutcomeName: Int]) async throws(StorageError) {
        let notification = delivery.notification
        guard let halt = notification.rollout?.halt, SendCounts(counts).ended > 0,
            board.control(of: notification.sequence) == .running,
            let status = try await controls.status(of: notification.id, in: notification.hub)
        else { return }
        let ended = status.deliveries.map { SendCounts($0.report.counts) }.reduce(SendCounts(), +)
        let recent = ended - status.countedFrom
        let rule = delivery.part?.side == .sample ? halt.ofSample(status.sampleSize) : halt
        guard rule.isPassed(recent),
            case .done(.halted, _, _) = try await controls.apply(.halt, to: notification.id, in: notification.hub)
        else { return }
        let name = hubs.hub(notification.hub)?.name ?? ""
        log(
            "The roll-out of notification \(notification.id) of hub '\(name)' is halted: \(recent.failed) of "
                + "\(recent.ended) pushes failed, and \(notification.rollout?.description ?? "") allows no more. "
                + "'martlet resume \(name) \(notification.id)' continues it, 'martlet cancel' ends it.")
    }
}
