public import MartletCore
public import MartletModel
import Synchronization

extension MemoryStorage: NotificationStore {
    public func accept(_ draft: NotificationDraft) async throws(StorageError) -> Acceptance {
        state.withLock { $0.accept(draft) }
    }

    public func earlier(
        _ request: RequestIdentity, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Acceptance? {
        state.withLock { $0.earlier(request, in: hub, at: now) }
    }

    public func nativePlatforms(in hub: Hub.ID) async throws(StorageError) -> [PlatformID] {
        state.withLock { $0.nativePlatforms(in: hub) }
    }

    public func release(dueBy time: any TimeSource, limit: Int) async throws(StorageError) -> ReleasedNotifications {
        state.withLock { state in
            let now = time.now
            let due = state.due(at: now).prefix(limit)
            var deliveries = due.flatMap { state.begin($0.notification, at: now) }
            let parts = state.waitingParts().filter { $0.beginsAt <= now }
                .sorted { ($0.beginsAt, $0.index, $0.part.number) < ($1.beginsAt, $1.index, $1.part.number) }
                .prefix(limit)
            for (index, part, _) in parts { deliveries += state.begin(part, of: index) }
            return ReleasedNotifications(count: due.count + parts.count, deliveries: deliveries)
        }
    }

    public func deliveries(
        of notification: Int64, on platform: PlatformID?
    ) async throws(StorageError) -> [DeliveryProgress] {
        state.withLock { state in
            state.deliveries.map(\.progress).filter {
                $0.delivery.notification.sequence == notification
                    && platform ?? $0.delivery.platform == $0.delivery.platform
            }
        }
    }

    public func handled(
        _ members: [AudienceMember], besides delivery: Delivery
    ) async throws(StorageError) -> Set<AudienceMember> {
        state.withLock { state in
            let siblings = state.deliveries.filter {
                let other = $0.progress.delivery
                return other.notification.sequence == delivery.notification.sequence && other.id != delivery.id
                    && other.platform == delivery.platform
            }
            return Set(members.filter { member in siblings.contains { $0.hasHandled(member) } })
        }
    }

    public func nextDue() async throws(StorageError) -> Timestamp? {
        state.withLock { state in
            (state.notifications.filter(\.isWaiting).map(\.beginsAt) + state.waitingParts().map(\.beginsAt)
                + state.notifications.filter { !state.hasEnded($0) }.compactMap(\.canaryDueAt)).min()
        }
    }

    public func scheduled(_ query: ScheduleQuery) async throws(StorageError) -> [ScheduledNotification] {
        state.withLock { state in
            let found = state.notifications.filter { entry in
                entry.isWaiting && entry.notification.hub == query.hub
                    && query.from.map { entry.dueAt >= $0 } ?? true && query.to.map { entry.dueAt < $0 } ?? true
            }.map { ScheduledNotification(notification: $0.notification, control: $0.control) }
            let rest = found.filter { entry in query.after.map { entry.position > $0 } ?? true }
            return Array(rest.sorted { $0.position < $1.position }.prefix(query.limit))
        }
    }

    public func cancel(
        _ id: NotificationID, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Cancellation {
        state.withLock { state in
            guard let index = state.index(of: id, in: hub) else { return .notFound }
            guard state.notifications[index].begunAt == nil else { return .begun }
            if state.notifications[index].control != .canceled {
                state.notifications[index].control = .canceled
                state.notifications[index].controlledAt = now
            }
            return .canceled
        }
    }

    public func replace(_ draft: NotificationDraft) async throws(StorageError) -> Replacement {
        state.withLock { state in
            guard let index = state.index(of: draft.id, in: draft.hub) else { return .notFound }
            guard state.notifications[index].begunAt == nil else { return .begun }
            guard state.notifications[index].isWaiting else { return .canceled }
            let sequence = state.notifications[index].notification.sequence
            state.notifications[index].notification = Notification(sequence: sequence, draft)
            state.notifications[index].author = draft.author
            state.notifications[index].waitingParts = draft.laterParts
            state.notifications[index].threshold = draft.rollout.flatMap(MemoryState.threshold)
            return .replaced(state.notifications[index].control)
        }
    }

    public func unfinished(
        after id: Delivery.ID, limit: Int
    ) async throws(StorageError) -> [DeliveryProgress] {
        state.withLock { state in
            let open = state.deliveries.lazy.filter { !$0.progress.state.isFinal && $0.progress.delivery.id > id }
            return Array(open.prefix(limit)).map { delivery in
                var progress = delivery.progress
                progress.hasReached = state.isShared && !delivery.reached.isEmpty
                return progress
            }
        }
    }

    @discardableResult
    public func record(_ step: DeliveryStep) async throws(StorageError) -> Bool {
        state.withLock { state in
            guard let index = state.index(of: step.delivery) else { return false }
            var step = step
            let checked = Set(step.channelsToCheck)
            if !checked.isEmpty {
                let channels = state.channels.filter { checked.contains($0.id) }
                let times = Dictionary(uniqueKeysWithValues: channels.map { ($0.id, $0.registeredAt) })
                step.keepRenewedHandles { times[$0] }
            }
            state.deliveries[index].record(step)
            if !step.retries.isEmpty {
                state.retryWrites.rows += step.retries.count
                state.retryWrites.steps += 1
            }
            let sequence = state.deliveries[index].progress.delivery.notification.sequence
            if let sentAt = step.sentAt,
                let index = state.notifications.firstIndex(where: { $0.notification.sequence == sequence })
            {
                state.notifications[index].lastSentAt = max(sentAt, state.notifications[index].lastSentAt ?? sentAt)
            }
            if let end = step.sampleEndsAt { state.recordSampleEnd(of: sequence, at: end) }
            state.recordLane(step, of: state.deliveries[index].progress.delivery)
            for refusal in step.refusals {
                let platform = state.deliveries[index].progress.delivery.platform
                state.deliveries[index].refusals[refusal.member] = state.record(of: refusal, on: platform)
            }
            return true
        }
    }

    public func retries(
        of delivery: Delivery.ID, due now: Timestamp, limit: Int
    ) async throws(StorageError) -> [Retry] {
        state.withLock { state in
            let due = state.retries(of: delivery).filter { $0.dueAt <= now }
            return Array(due.sorted { ($0.dueAt, $0.member) < ($1.dueAt, $1.member) }.prefix(limit))
        }
    }

    public func successors(
        of absent: [AudienceMember], present: [AudienceMember], in delivery: Delivery, at now: Timestamp
    ) async throws(StorageError) -> Successors {
        state.withLock { $0.successors(of: absent, present: present, in: delivery, at: now) }
    }

    public func nextRetry(of delivery: Delivery.ID) async throws(StorageError) -> Timestamp? {
        state.withLock { $0.retries(of: delivery).map(\.dueAt).min() }
    }

    public func expediteRetries(beyond timestamp: Timestamp, by amount: Duration) async throws(StorageError) {
        state.withLock { state in
            for index in state.deliveries.indices {
                for (member, retry) in state.deliveries[index].retries where retry.dueAt > timestamp {
                    state.deliveries[index].retries[member]?.dueAt = retry.dueAt + amount * -1
                }
            }
        }
    }

    public func expediteRetries(
        after outcome: OutcomeName, in hub: Hub.ID, at now: Timestamp, limit: Int
    ) async throws(StorageError) -> Int {
        state.withLock { state in
            var count = 0
            for index in state.deliveries.indices
            where state.deliveries[index].progress.delivery.notification.hub == hub {
                for (member, retry) in state.deliveries[index].retries
                where count < limit && retry.dueAt > now && retry.outcome == outcome {
                    state.deliveries[index].retries[member]?.dueAt = now
                    count += 1
                }
            }
            return count
        }
    }

    public func report(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> NotificationReport? {
        state.withLock { state in state.index(of: id, in: hub).map { state.report(state.notifications[$0]) } }
    }

    public func refusals(
        of id: NotificationID, in hub: Hub.ID, after position: RefusalPosition, limit: Int
    ) async throws(StorageError) -> RefusalPage {
        state.withLock { state in
            let found = state.deliveries.filter {
                $0.progress.delivery.notification.id == id && $0.progress.delivery.notification.hub == hub
            }.flatMap { delivery in
                delivery.refusals.map { member, record in
                    (index: RefusalPosition(delivery: delivery.progress.delivery.id, member: member), record: record)
                }
            }.filter { $0.index > position }.sorted { $0.index < $1.index }
            let page = found.prefix(limit)
            return RefusalPage(
                records: page.map(\.record), next: found.count > page.count ? page.last?.index : nil)
        }
    }

    public func refused(
        in hub: Hub.ID, after id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID] {
        state.withLock { state in
            let refused = state.deliveries.filter { !$0.refusals.isEmpty }.map(\.progress.delivery.notification)
            let ids = Set(refused.filter { $0.hub == hub }.map(\.id)).sorted()
            return Array(ids.filter { known in id.map { known > $0 } ?? true }.prefix(limit))
        }
    }
}

extension MemoryStorage: ReachedStore {
    public var reachedStore: (any ReachedStore)? { state.withLock(\.isShared) ? self : nil }

    public func reached(by delivery: Delivery.ID) async throws(StorageError) -> [DeliveredBitmap] {
        state.withLock { state in
            state.index(of: delivery).map { state.deliveries[$0].reached.values.sorted { $0.index < $1.index } } ?? []
        }
    }

    @discardableResult
    public func record(_ blocks: ReachedBlocks, of delivery: Delivery.ID) async throws(StorageError) -> Bool {
        state.withLock { state in
            guard let index = state.index(of: delivery) else { return false }
            state.deliveries[index].keep(blocks.read())
            return true
        }
    }
}

extension MemoryState {
    func index(of id: NotificationID, in hub: Hub.ID) -> Int? {
        notifications.firstIndex { $0.notification.id == id && $0.notification.hub == hub }
    }

    func index(of delivery: Delivery.ID) -> Int? {
        deliveries.firstIndex { $0.progress.delivery.id == delivery }
    }

    func report(_ entry: MemoryNotification) -> NotificationReport {
        guard let begunAt = entry.begunAt else {
            return NotificationReport(
                entry.notification, waiting: entry.canceledAt == nil ? .scheduled : .canceled,
                endedAt: entry.canceledAt)
        }
        return NotificationReport(
            entry.notification, begunAt: begunAt, isCanceled: entry.control == .canceled,
            hasWaitingParts: !entry.waitingParts.isEmpty,
            deliveries(of: entry).map(\.report))
    }

    func deliveries(of entry: MemoryNotification) -> [MemoryDelivery] {
        deliveries.filter { $0.progress.delivery.notification.sequence == entry.notification.sequence }
    }

    fileprivate func record(of refusal: Refusal, on platform: PlatformID) -> RefusalRecord {
        let member = refusal.registration ?? refusal.member
        let entry = registrations.first {
            $0.channel == member.channel
                && (member.registration == 0
                    ? $0.registration.template == nil : $0.sequence == member.registration)
        }
        return RefusalRecord(
            platform: platform, handle: refusal.handle, registration: entry?.registration.id,
            installation: entry?.registration.installation, outcome: refusal.outcome, reason: refusal.reason,
            at: refusal.at, attempts: refusal.attempts, status: refusal.answer?.status, fate: refusal.fate)
    }

    fileprivate func retries(of delivery: Delivery.ID) -> [Retry] {
        index(of: delivery).map { Array(deliveries[$0].retries.values) } ?? []
    }

    fileprivate func earlier(_ request: RequestIdentity, in hub: Hub.ID, at now: Timestamp) -> Acceptance? {
        guard let known = requests[hub]?[request.key], known.acceptedAt + RequestIdentity.lifetime > now else {
            return nil
        }
        return known.fingerprint == request.fingerprint ? .repeated(known.notification) : .conflicting
    }

    mutating func accept(_ draft: NotificationDraft) -> Acceptance {
        if let request = draft.request, let earlier = earlier(request, in: draft.hub, at: draft.acceptedAt) {
            return earlier
        }
        if let excess = excess(of: draft) { return .backlogged(excess) }
        // The order in which deliveries begin decides which is newer, so overdue notifications begin before this one.
        let isNewest = draft.collapse != nil && draft.dueAt == nil
        let older =
            isNewest
            ? due(at: draft.acceptedAt).map(\.notification).filter { $0.hub == draft.hub && $0.collapse != nil } : []
        let overdue = older.flatMap { begin($0, at: draft.acceptedAt) }
        lastNotification += 1
        let notification = Notification(sequence: lastNotification, draft)
        var entry = MemoryNotification(notification: notification, author: draft.author)
        entry.waitingParts = draft.laterParts
        entry.threshold = draft.rollout.flatMap(Self.threshold)
        notifications.append(entry)
        if let request = draft.request {
            requests[draft.hub, default: [:]][request.key] = MemoryRequest(
                fingerprint: request.fingerprint, notification: draft.id, acceptedAt: draft.acceptedAt)
        }
        return .accepted(notification, draft.dueAt == nil ? overdue + begin(notification, at: draft.acceptedAt) : [])
    }

    /// Returns the scheduled notifications that begin at or before a time, in the order in which they are due.
    fileprivate func due(at now: Timestamp) -> [MemoryNotification] {
        notifications.filter { $0.isWaiting && $0.beginsAt <= now }
            .sorted { ($0.dueAt, $0.notification.sequence) < ($1.dueAt, $1.notification.sequence) }
    }

    fileprivate func nativePlatforms(in hub: Hub.ID) -> [PlatformID] {
        let native = registrations.filter { $0.hub == hub && $0.registration.template == nil }
        return Set(native.map(\.registration.platform)).sorted { $0.rawValue < $1.rawValue }
    }

    private func excess(of draft: NotificationDraft) -> BacklogExcess? {
        guard let limits = draft.backlogLimits else { return nil }
        let unfinished = notifications.filter { entry in
            entry.isWaiting || entry.canceledAt == nil && !entry.waitingParts.isEmpty
                || deliveries(of: entry).contains { !$0.progress.state.isFinal }
        }
        func size(_ entries: [MemoryNotification]) -> BacklogSize {
            BacklogSize(
                notifications: entries.count,
                bytes: entries.reduce(0) { $0 + Int64($1.notification.content.body.count) })
        }
        let own = unfinished.filter { $0.notification.hub == draft.hub }
        let user =
            draft.author?.isUser == true
            ? own.filter { $0.author?.description == draft.author?.description } : nil
        return limits.excess(
            hub: size(own), all: size(unfinished), user: user.map(size), adding: Int64(draft.content.body.count))
    }

    fileprivate mutating func begin(_ notification: Notification, at now: Timestamp) -> [Delivery] {
        if let index = notifications.firstIndex(where: { $0.notification.sequence == notification.sequence }) {
            notifications[index].begunAt = now
            if notifications[index].waitingParts.contains(where: { $0.number == 0 }) { return [] }
            if audiences(of: notification).isEmpty { notifications[index].waitingParts = [] }
        }
        let part = notification.rollout?.sample.map { _ in
            DeliveryPart(number: 0, side: .sample, threshold: notification.rollout.flatMap(Self.threshold))
        }
        return audiences(of: notification).map { insert(notification, $0, $1, part) }
    }

    private mutating func insert(
        _ notification: Notification, _ platform: PlatformID, _ bounds: AudienceBounds, _ part: DeliveryPart?
    ) -> Delivery {
        lastDelivery += 1
        let delivery = Delivery(
            id: Delivery.ID(rawValue: lastDelivery), notification: notification, platform: platform, bounds: bounds,
            part: part)
        deliveries.append(MemoryDelivery(progress: DeliveryProgress(delivery)))
        return delivery
    }

    /// Returns the waiting parts of all notifications that have begun, each with the index of its notification and the
    /// time when it begins.
    fileprivate func waitingParts() -> [(index: Int, part: WaitingPart, beginsAt: Timestamp)] {
        notifications.indices.filter { notifications[$0].begunAt != nil }.flatMap { index in
            notifications[index].waitingParts.map { (index, $0, $0.dueAt ?? $0.expiresAt) }
        }
    }

    fileprivate mutating func begin(_ part: WaitingPart, of index: Int) -> [Delivery] {
        let entry = notifications[index]
        notifications[index].waitingParts.removeAll { $0.number == part.number }
        let own = deliveries(of: entry).map(\.progress.delivery)
        let audiences =
            part.side == .rest
            ? own.filter { $0.part?.side == .sample }.map { ($0.platform, $0.bounds) }
            : audiences(of: entry.notification)
        return audiences.filter { part.platform ?? $0.0 == $0.0 }.map { platform, bounds in
            let lead = own.first { $0.platform == platform }?.id
            return insert(
                entry.notification, platform, bounds,
                DeliveryPart(
                    number: part.number, lead: lead, side: part.side,
                    threshold: part.side == nil ? nil : entry.threshold, narrowing: part.narrowing,
                    expiresAt: part.deliveryExpiry(in: entry.notification)))
        }
    }

    static func threshold(_ rollout: Rollout) -> UInt64? {
        if case .share(let share) = rollout.sample { SampleHash.threshold(ofShare: share) } else { nil }
    }

    fileprivate mutating func recordSampleEnd(of sequence: Int64, at timestamp: Timestamp) {
        let open = deliveries.map(\.progress).contains {
            $0.delivery.notification.sequence == sequence && $0.delivery.part?.side == .sample && !$0.isFannedOut
                && !$0.state.isFinal
        }
        guard !open, let index = notifications.firstIndex(where: { $0.notification.sequence == sequence }) else {
            return
        }
        notifications[index].heldAt = notifications[index].heldAt ?? timestamp
    }

    private func audiences(of notification: Notification) -> [(PlatformID, AudienceBounds)] {
        let registrations = registrations.filter { $0.hub == notification.hub }
        switch (notification.content, notification.target) {
        case (.native(let platform, _), .direct):
            return [(platform, .none)]
        case (.native(let platform, _), .audience):
            let native = registrations.filter {
                $0.registration.platform == platform && $0.registration.template == nil
            }
            let last = native.map(\.channel).max() ?? .none
            return [(platform, AudienceBounds(channel: last, registration: 0))]
        case (.message(let content), _):
            return nativePlatforms(in: notification.hub).filter { !content.omits($0) }.map { platform in
                let native = registrations.filter {
                    $0.registration.platform == platform && $0.registration.template == nil
                }
                return (platform, AudienceBounds(channel: native.map(\.channel).max() ?? .none, registration: 0))
            }
        case (.template, _):
            let last = registrations.last?.sequence ?? 0
            let bounds = AudienceBounds(channel: ChannelID(rawValue: .max), registration: last)
            let platforms = Set(registrations.filter { $0.registration.template != nil }.map(\.registration.platform))
            return platforms.sorted { $0.rawValue < $1.rawValue }.map { ($0, bounds) }
        }
    }
}

extension MemoryNotification {
    var dueAt: Timestamp { notification.dueAt ?? notification.acceptedAt }
}

extension MemoryDelivery {
    var report: DeliveryReport {
        DeliveryReport(
            platform: progress.delivery.platform, state: progress.state, startedAt: startedAt, endedAt: endedAt,
            counts: counts)
    }

    /// Returns whether this delivery has handled a member: it has reached the member, has recorded a refusal or a retry
    /// of the member, or has sent the push of another channel's member to this member's channel.
    fileprivate func hasHandled(_ member: AudienceMember) -> Bool {
        retries[member] != nil || refused[member] != nil || hasReached(member)
            || attempts.contains { $0.followed == member.channel && $0.member.channel != member.channel }
    }

    func hasReached(_ member: AudienceMember) -> Bool {
        reached[DeliveredBitmap.index(of: member.number)]?.contains(member.number) ?? false
    }

    fileprivate mutating func keep(_ blocks: [DeliveredBitmap]) {
        for block in blocks { reached[block.index] = block }
    }

    fileprivate mutating func record(_ step: DeliveryStep) {
        if let cursor = step.cursor { progress.cursor = cursor }
        progress.isFannedOut = step.isFannedOut
        progress.state = step.state
        startedAt = startedAt ?? step.startedAt
        endedAt = step.endedAt ?? endedAt
        counts.merge(step.counts.filter { $0.value != 0 }, uniquingKeysWith: +)
        for member in step.settled { retries[member] = nil }
        for retry in step.retries { retries[retry.member] = retry }
        for refusal in step.refusals { refused[refusal.member] = refusal }
        if let range = step.range { ranges = ranges.filter { $0.last != range.last } + [range] }
        attempts += step.attempts
        keep(step.reached + (step.newlyReached?.read() ?? []))
        supersedesNone = supersedesNone || step.supersedesNone
    }
}
