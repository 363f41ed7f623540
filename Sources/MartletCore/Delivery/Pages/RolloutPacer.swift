import MartletModel

/// Sends the pages of roll-outs at their rate, and halts a roll-out when too many of its pushes fail.
struct RolloutPacer: Sendable {
    let notifications: any NotificationStore & ControlStore
    let devices: any DeviceStore
    let hubs: HubDirectory
    let board: ControlRegistry
    let controls: SendControls
    let time: any TimeSource
    /// Receives messages for the operator, without secrets.
    let log: @Sendable (String) -> Void

    /// How many pushes a roll-out may send now.
    enum Admission {
        /// This many pushes may be sent.
        case now(Int)
        case later(Timestamp)
        /// The notification was deleted with its hub.
        case unknown
    }

    /// Asks whether the roll-out of a notification, if it has one, allows a page now.
    /// - Parameter wanted: The most members of the page.
    func admit(_ run: DeliveryRun, for wanted: Int) async throws(StorageError) -> Admission {
        let notification = run.delivery.notification
        guard let rollout = notification.rollout else { return .now(wanted) }
        if !board.hasMeter(notification.sequence) {
            guard let record = try await notifications.record(ofRollout: notification.sequence),
                let rate = try await rate(of: rollout, record, run.delivery)
            else { return .unknown }
            board.startMeter(
                of: notification.sequence, in: notification.hub, rate: rate, lastSentAt: record.lastSentAt, at: time.now
            )
        }
        return switch board.turn(of: notification.sequence, for: wanted, at: time.now) {
        case .now(let count): .now(count)
        case .later(let timestamp): .later(timestamp)
        }
    }

    /// Gives back the part of an admission that a page did not use.
    func giveBack(_ count: Int, of delivery: Delivery) {
        guard delivery.notification.rollout != nil, count > 0 else { return }
        board.giveBack(count, of: delivery.notification.sequence)
    }

    /// Whether a retry of a roll-out is due. Other notifications are retried after all of their pages, so that devices
    /// that failed do not delay the others.
    func isRetryDue(_ delivery: Delivery) async throws(StorageError) -> Bool {
        guard delivery.notification.rollout != nil, let due = try await notifications.nextRetry(of: delivery.id) else {
            return false
        }
        return due <= time.now
    }

    /// - Returns: Pushes per second; nil if the notification is gone.
    private func rate(
        of rollout: Rollout, _ record: RolloutRecord, _ delivery: Delivery
    ) async throws(StorageError) -> Double? {
        if let rate = rollout.rate(for: record.audience) { return rate }
        let audience = try await notifications.setAudience(
            try await count(delivery), ofRollout: delivery.notification.sequence)
        return rollout.rate(for: audience)
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
            // The bounds are those of one platform.
            case .message: query.bounds = nil
            }
            let count = try await devices.audienceCount(query)
            return count.platforms.reduce(0) { sum, part in
                if case .message(let content) = notification.content, content.omits(part.key) { return sum }
                return sum + part.value.native + part.value.templates
            }
        }
    }

    // MARK: Too many failures

    /// Halts a roll-out when too many of its pushes fail, and logs it.
    /// - Parameter counts: The outcomes that the last step has added.
    func haltIfNeeded(_ delivery: Delivery, _ counts: [OutcomeName: Int]) async throws(StorageError) {
        let notification = delivery.notification
        guard let halt = notification.rollout?.halt, SendCounts(counts).ended > 0,
            board.control(of: notification.sequence) == .running,
            let status = try await controls.status(of: notification.id, in: notification.hub)
        else { return }
        let ended = status.deliveries.map { SendCounts($0.report.counts) }.reduce(SendCounts(), +)
        let recent = ended - status.countedFrom
        guard halt.isPassed(recent),
            case .done(.halted, _, _) = try await controls.apply(.halt, to: notification.id, in: notification.hub)
        else { return }
        let name = hubs.hub(notification.hub)?.name ?? ""
        log(
            "The roll-out of notification \(notification.id) of hub '\(name)' is halted: \(recent.failed) of "
                + "\(recent.ended) pushes failed, and \(notification.rollout?.description ?? "") allows no more. "
                + "'martlet resume \(name) \(notification.id)' lets it go on, 'martlet cancel' ends it.")
    }
}
