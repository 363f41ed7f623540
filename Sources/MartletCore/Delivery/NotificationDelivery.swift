import MartletModel

/// Brings one notification to its audience: page after page behind a cursor, then the retries that are due.
///
/// It can be stopped and begun again anywhere. The cursor says which pages are done, the progress map which channels of
/// the page in hand were reached.
struct NotificationDelivery: Sendable {
    /// How a delivery ended, or why it stopped before its end.
    enum Ending: Sendable, Equatable {
        case finished
        /// Nothing to do before this moment, when a retry is due.
        case waiting(until: Timestamp)
        /// Its lane is paused until this moment, or the message expires then.
        case paused(LaneID, until: Timestamp)
        /// The server is shutting down.
        case interrupted
        /// Storage failed; what was not recorded will be done again.
        case failed(StorageError)
    }

    let notifications: any NotificationStore
    let devices: any DeviceStore
    let maps: any ProgressMaps
    let hubs: HubDirectory
    let platforms: PushPlatformList
    let lanes: LaneBoard
    let sender: PageSender
    let settings: DeliverySettings
    let time: any TimeSource
    /// Told what an operator should know, in a sentence without secrets.
    let log: @Sendable (String) -> Void

    func run(_ progress: DeliveryProgress) async -> Ending {
        do throws(StorageError) {
            return try await deliver(progress)
        } catch {
            return .failed(error)
        }
    }

    private func deliver(_ start: DeliveryProgress) async throws(StorageError) -> Ending {
        let notification = start.notification
        var progress = start
        var history = History(isFresh: start.cursor == .none && !start.isFannedOut)
        var lastLane: ReadyLane?
        while !progress.isFannedOut {
            switch try await readiness(of: notification, after: lastLane) {
            case .expired: return try await finish(progress, .abandoned)
            case .paused(let lane, let until): return .paused(lane, until: min(until, notification.expiresAt))
            case .interrupted: return .interrupted
            case .ready(let lane):
                lastLane = lane
                try await fanOut(&progress, &history, lane)
            }
        }
        if progress.state.isFinal {
            forget(notification.sequence)
            return .finished
        }
        return try await retry(progress)
    }

    // MARK: Fan-out

    /// What this run knows of all pages so far; only a run that began at the first page knows it all.
    private struct History {
        var isFresh: Bool
        var hasTargets = false
        var hasRetries = false

        /// The state that the last page ends in, where that can be told without asking the store.
        var final: NotificationState? {
            guard isFresh, !hasRetries else { return nil }
            return hasTargets ? .completed : .noTargetFound
        }
    }

    private func fanOut(
        _ progress: inout DeliveryProgress, _ history: inout History, _ lane: ReadyLane
    ) async throws(StorageError) {
        let notification = progress.notification
        let started = time.now
        let page = try await nextPage(progress, limit: lane.isProbe ? LaneBoard.probeSize : settings.pageSize)
        var tally = makeTally(notification, lane, areRetries: false)
        tally.addSkipped(page.skipped)
        if page.count > 0 {
            let map = try map(of: notification)
            let places = page.members.indices.filter { !map.contains(page.members[$0].channel) }
            tally.addReached(page.count - places.count)
            let job = PageSender.Job(
                notification: notification, lane: lane.id, credential: lane.credential, service: lane.service,
                page: page, attempts: [], map: map)
            if let outcome = lanes.refusal(of: notification.sequence) {
                tally.addUnsent(places.count, outcome)
            } else {
                await sender.send(job, places: places, tally: &tally)
            }
        }
        try await conclude(tally, lane, notification)
        history.hasTargets = history.hasTargets || page.count > 0
        history.hasRetries = history.hasRetries || !tally.retries.isEmpty
        let isFirst = progress.state == .enqueued
        progress.state = (page.isLast ? history.final : nil) ?? .processing
        progress.cursor = page.members.last?.channel ?? progress.cursor
        progress.isFannedOut = page.isLast
        var step = step(tally, notification, cursor: progress.cursor, isFannedOut: page.isLast)
        step.state = progress.state
        step.startedAt = isFirst ? started : nil
        step.endedAt = progress.state.isFinal ? time.now : nil
        try await notifications.record(step)
    }

    private func nextPage(_ progress: DeliveryProgress, limit: Int) async throws(StorageError) -> AudiencePage {
        let notification = progress.notification
        switch notification.target {
        case .direct(let handle):
            return Self.page(of: handle)
        case .audience(let expression):
            return try await devices.audience(
                AudienceQuery(
                    hub: notification.hub, platform: notification.platform, expression: expression,
                    after: AudienceMember(channel: progress.cursor),
                    throughChannel: notification.lastChannel, limit: limit, now: time.now))
        }
    }

    /// The page of a direct send.
    private static func page(of handle: PushHandle) -> AudiencePage {
        var page = AudiencePage()
        var text = handle.text
        text.withUTF8 { page.append(.none, handle: $0) }
        return page
    }

    /// Only held while something is sent: many deliveries wait at a time, and a map is an open file.
    private func map(of notification: Notification) throws(StorageError) -> any ProgressMap {
        try maps.map(for: notification.sequence, through: notification.lastChannel)
    }

    // MARK: Retries

    private func retry(_ progress: DeliveryProgress) async throws(StorageError) -> Ending {
        let notification = progress.notification
        while true {
            guard let due = try await notifications.nextRetry(of: notification.sequence) else {
                return try await finish(progress, nil)
            }
            if due > time.now, notification.expiresAt > time.now {
                return .waiting(until: min(due, notification.expiresAt))
            }
            switch try await readiness(of: notification) {
            case .expired: return try await finish(progress, .abandoned)
            case .paused(let lane, let until): return .paused(lane, until: min(until, notification.expiresAt))
            case .interrupted: return .interrupted
            case .ready(let lane): try await sendRetries(notification, lane)
            }
        }
    }

    private func sendRetries(_ notification: Notification, _ lane: ReadyLane) async throws(StorageError) {
        let limit = lane.isProbe ? LaneBoard.probeSize : settings.pageSize
        let retries = try await notifications.retries(of: notification.sequence, due: time.now, limit: limit)
        let page = try await page(of: retries, notification)
        let map = try map(of: notification)
        var tally = makeTally(notification, lane, areRetries: true)
        let places = page.members.indices.filter { !map.contains(page.members[$0].channel) }
        let present = Set(page.members.map(\.channel))
        for retry in retries {
            if map.contains(retry.channel) {
                tally.addReached(1)
                tally.settle(retry.channel)
            } else if !present.contains(retry.channel) {
                tally.giveUp(retry)
            }
        }
        let attempts = Dictionary(uniqueKeysWithValues: retries.map { ($0.channel, $0.attempts) })
        let job = PageSender.Job(
            notification: notification, lane: lane.id, credential: lane.credential, service: lane.service, page: page,
            attempts: page.members.map { attempts[$0.channel] ?? 0 }, map: map)
        await sender.send(job, places: places, tally: &tally)
        try await conclude(tally, lane, notification)
        try await notifications.record(step(tally, notification, cursor: nil, isFannedOut: true))
    }

    /// The channels of retries that are still in the audience, with their handles of now: a device that was unregistered
    /// meanwhile, or has another user, must not show what was not meant for it.
    private func page(of retries: [Retry], _ notification: Notification) async throws(StorageError) -> AudiencePage {
        switch notification.target {
        case .direct(let handle):
            return retries.isEmpty ? AudiencePage() : Self.page(of: handle)
        case .audience(let expression):
            return try await devices.audience(
                AudienceQuery(
                    hub: notification.hub, platform: notification.platform, expression: expression,
                    throughChannel: notification.lastChannel,
                    among: retries.map { AudienceMember(channel: $0.channel) }.sorted(), limit: retries.count,
                    now: time.now))
        }
    }

    // MARK: What pages come to

    private func makeTally(_ notification: Notification, _ lane: ReadyLane, areRetries: Bool) -> PageTally {
        PageTally(
            platform: platforms[notification.platform], policy: settings.retry, now: time.now,
            expiresAt: notification.expiresAt, areRetries: areRetries)
    }

    /// Tells the lane how the page went and acts on what was said of handles.
    private func conclude(
        _ tally: PageTally, _ lane: ReadyLane, _ notification: Notification
    ) async throws(StorageError) {
        // What an old credential has come to says nothing of the new one.
        let isCurrent =
            hubs.credential(for: notification.platform, of: notification.hub) == lane.credential
        let note = lanes.note(tally, lane, isCurrent: isCurrent, at: time.now)
        raiseAlarms(note, tally, notification)
        if let outcome = tally.refusesAll { lanes.refuse(notification.sequence, outcome) }
        let feedback = tally.feedback + (note.mayDelete ? tally.guardedFeedback : [])
        guard !feedback.isEmpty else { return }
        _ = try await devices.apply(feedback, in: notification.hub, at: time.now)
    }

    /// Tells the operator, once, what needs a look and does not mend itself.
    private func raiseAlarms(_ note: LaneNote, _ tally: PageTally, _ notification: Notification) {
        let name = hubs.hub(notification.hub)?.name ?? ""
        if note.beginsPause, let cause = tally.pauseCause {
            log(
                "Sending from hub '\(name)' to \(notification.platform) is paused: \(cause.name.rawValue), "
                    + "\(cause.reason). What was accepted is kept and tried again.")
        }
        if note.beginsQuarantine {
            log(
                "Most devices of hub '\(name)' look gone to \(notification.platform), which a wrong credential, topic or "
                    + "environment explains as well: none is removed until sends succeed again.")
        }
    }

    private func step(
        _ tally: PageTally, _ notification: Notification, cursor: ChannelID?, isFannedOut: Bool
    ) -> DeliveryStep {
        DeliveryStep(
            notification: notification.sequence, cursor: cursor, isFannedOut: isFannedOut, state: .processing,
            counts: tally.counts, refusals: tally.refusals, retries: tally.retries,
            settled: tally.settled)
    }

    /// Ends the notification. Retries that are left when it expires are given up, each counted.
    private func finish(
        _ progress: DeliveryProgress, _ state: NotificationState?
    ) async throws(StorageError) -> Ending {
        let notification = progress.notification
        if state == .abandoned {
            while try await giveUpRetries(progress) {
                if Task.isCancelled { return .interrupted }
            }
        }
        let final: NotificationState
        if let state {
            final = state
        } else {
            let report = try await notifications.report(notification.id, in: notification.hub)
            final = report?.counts.isEmpty ?? true ? .noTargetFound : .completed
        }
        try await notifications.record(
            DeliveryStep(
                notification: notification.sequence, isFannedOut: progress.isFannedOut, state: final,
                endedAt: time.now))
        forget(notification.sequence)
        return .finished
    }

    /// Gives up as many retries as one step takes.
    /// - Returns: Whether there were any.
    private func giveUpRetries(_ progress: DeliveryProgress) async throws(StorageError) -> Bool {
        let sequence = progress.notification.sequence
        let left = try await notifications.retries(of: sequence, due: .distantFuture, limit: settings.pageSize)
        guard !left.isEmpty else { return false }
        try await notifications.record(
            DeliveryStep(
                notification: sequence, isFannedOut: progress.isFannedOut, state: .processing,
                counts: [.abandoned: left.count], settled: left.map(\.channel)))
        return true
    }

    /// Drops what is only of use while the delivery goes on. A map that cannot be removed now is removed by the sweep of
    /// the next start.
    func forget(_ notification: Int64) {
        lanes.forget(notification)
        try? maps.remove(notification)
    }

    // MARK: Whether to go on

    private enum Readiness {
        case ready(ReadyLane)
        case paused(LaneID, until: Timestamp)
        case expired
        case interrupted
    }

    /// - Parameter last: What the page before was sent with: reading a credential costs as much as hundreds of pushes.
    private func readiness(
        of notification: Notification, after last: ReadyLane? = nil
    ) async throws(StorageError) -> Readiness {
        let now = time.now
        if Task.isCancelled { return .interrupted }
        if notification.expiresAt <= now { return .expired }
        let id = LaneID(hub: notification.hub, platform: notification.platform)
        let entry = lanes.enter(id, at: now, probeDuration: settings.requestTimeout)
        if case .paused(let until) = entry { return .paused(id, until: until) }
        let credential = hubs.credential(for: notification.platform, of: notification.hub)
        if var last, last.credential == credential {
            last.isProbe = entry == .probe
            return .ready(last)
        }
        guard let type = platforms.service(notification.platform) else {
            return .ready(ReadyLane(id: id, credential: Credential([:]), service: nil, isProbe: false))
        }
        guard let credential, let service = try? type.init(credential: credential) else {
            return .paused(id, until: lanes.pause(id, at: now))
        }
        return .ready(ReadyLane(id: id, credential: credential, service: service, isProbe: entry == .probe))
    }
}

/// A lane that may send now, with what it sends with.
struct ReadyLane: Sendable {
    var id: LaneID
    var credential: Credential
    /// nil where nothing sends to the platform: then every push is refused.
    var service: (any PushService)?
    /// The lane comes out of a pause: a few pushes of this delivery show whether it is well again.
    var isProbe: Bool
}
