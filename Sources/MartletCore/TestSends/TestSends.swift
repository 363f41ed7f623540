import MartletHTTP
import MartletModel

/// Sends to a few devices at once and returns the result for each (NotificationHubs.md, section 6.5). Nothing is
/// stored, no retry is scheduled, and no answer changes a handle or the state of a lane.
public struct TestSends: Sendable {
    /// The maximum number of devices of a test send, over all platforms.
    public static let deviceLimit = 10
    /// The maximum time to wait for the answers of a push service.
    static let timeout: Duration = .seconds(10)

    private let devices: any DeviceStore
    private let resolver: LaneResolver
    private let check: NotificationCheck
    private let sender: PageSender
    private let time: any TimeSource
    private let limiter = TestSendLimiter()

    init(
        devices: any DeviceStore, resolver: LaneResolver, sender: PageSender, time: any TimeSource
    ) {
        self.devices = devices
        self.resolver = resolver
        check = NotificationCheck(platforms: resolver.platforms)
        var sender = sender
        sender.requestTimeout = Self.timeout
        sender.readsSuccesses = true
        self.sender = sender
        self.time = time
    }

    /// Sends to at most `deviceLimit` devices, and waits for the answers.
    public func send(
        _ content: Notification.Content, to target: Notification.Target, in hub: Hub.ID, expiry: Expiry? = nil
    ) async throws(TestSendError) -> TestSendReport {
        let now = time.now
        let notification: Notification
        do throws(NotificationIntakeError) {
            let (content, target) = try check.checked(content, target, at: now)
            let draft = NotificationDraft(
                id: NotificationID(at: now), hub: hub, content: content, target: target, acceptedAt: now,
                expiresAt: try expiry?.timestamp(from: now) ?? now + NotificationIntake.lifetime,
                statesExpiry: expiry != nil)
            notification = Notification(sequence: 0, draft)
        } catch {
            throw .refused(error)
        }
        if let wait = limiter.take(hub, at: now) { throw .tooMany(retryAfter: wait) }
        do throws(StorageError) {
            return try await send(notification)
        } catch {
            throw .refused(.storage(error))
        }
    }

    private func send(_ notification: Notification) async throws(StorageError) -> TestSendReport {
        var pages: [(delivery: Delivery, page: AudiencePage)] = []
        var room = Self.deviceLimit
        for platform in platforms(of: notification) where room > 0 {
            let bounds = AudienceBounds(channel: ChannelID(rawValue: .max), registration: .max)
            let delivery = Delivery(id: .none, notification: notification, platform: platform, bounds: bounds)
            let page = try await page(of: delivery, limit: room)
            guard page.count > 0 else { continue }
            pages.append((delivery, page))
            room -= page.count
        }
        let outcomes = await outcomes(of: pages)
        var report = TestSendReport(results: [])
        for (number, (delivery, page)) in pages.enumerated() {
            report.results += try await results(of: page, delivery, outcomes[number] ?? [:])
        }
        return report
    }

    /// Sends on all platforms at the same time, so that a push service that does not answer does not delay the other
    /// platforms.
    private func outcomes(
        of pages: [(delivery: Delivery, page: AudiencePage)]
    ) async -> [Int: [AudienceMember: Outcome]] {
        await withTaskGroup(of: (Int, [AudienceMember: Outcome]).self) { group in
            for (number, (delivery, page)) in pages.enumerated() {
                group.addTask { (number, await self.outcomes(of: page, delivery)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    private func platforms(of notification: Notification) -> [PlatformID] {
        switch notification.content {
        case .native(let platform, _): [platform]
        case .template: resolver.platforms.map { $0.descriptor.platform }
        case .message(let content):
            resolver.platforms.map { $0.descriptor.platform }.filter { !content.omits($0) }
        }
    }

    private func page(of delivery: Delivery, limit: Int) async throws(StorageError) -> AudiencePage {
        switch delivery.notification.target {
        case .direct(let handles): AudiencePage(of: handles, after: .none, limit: limit)
        case .audience(let expression):
            try await devices.audience(AudienceQuery(of: delivery, expression, limit: limit, now: time.now))
        }
    }

    private func results(
        of page: AudiencePage, _ delivery: Delivery, _ outcomes: [AudienceMember: Outcome]
    ) async throws(StorageError) -> [TestSendReport.Result] {
        var results: [TestSendReport.Result] = []
        var named: Set<String> = []
        for index in page.members.indices {
            let handle = page.handle(index)
            let outcome = outcomes[page.members[index]] ?? .accepted
            let registration = try await registration(of: handle, index, page, delivery, notOf: named)
            if let registration { named.insert(registration) }
            results.append(
                TestSendReport.Result(
                    platform: delivery.platform, handle: handle, registration: registration, outcome: outcome.name,
                    reason: outcome.reason))
        }
        return results
    }

    // MARK: Sending

    /// Sends to a page, and returns the outcomes of its members. A member that was reached is left out, unless the push
    /// service gave a reason.
    private func outcomes(of page: AudiencePage, _ delivery: Delivery) async -> [AudienceMember: Outcome] {
        let platform = resolver.platforms[delivery.platform]
        var tally = PageTally(
            platform: platform, policy: RetryPolicy(), now: time.now, expiresAt: delivery.notification.expiresAt,
            areRetries: false)
        switch resolver.resolve(delivery.lane) {
        case .missing(let outcome): return Dictionary(uniqueKeysWithValues: page.members.map { ($0, outcome) })
        case .unusable(let error):
            let outcome = PageSender.outcome(of: error)
            return Dictionary(uniqueKeysWithValues: page.members.map { ($0, outcome) })
        case .service(let service, let credential):
            let lane = SendContext(delivery.lane, credential, .by(service))
            var content = sender.content(of: delivery, on: platform)
            let job = PageSender.Job(delivery, lane, page: page)
            await sender.send(job, &content, indices: Array(page.members.indices), tally: &tally)
        }
        let failures =
            tally.outcomes.retries.map { ($0.member, Outcome($0.outcome, reason: $0.reason, .refuse)) }
            + tally.outcomes.refusals.map { ($0.member, Outcome($0.outcome, reason: $0.reason, .refuse)) }
        let successes = tally.outcomes.successReasons.mapValues { Outcome(.success, reason: $0, .accepted) }
        return Dictionary(failures) { first, _ in first }.merging(tally.outcomes.suppressed) { first, _ in first }
            .merging(successes) { first, _ in first }
    }

    // MARK: Registrations

    /// Returns the id of a handle's registration; nil if there is none. If the handle has several registrations,
    /// prefers one whose tags match the expression of the send.
    private func registration(
        of handle: PushHandle, _ index: Int, _ page: AudiencePage, _ delivery: Delivery, notOf named: Set<String>
    ) async throws(StorageError) -> String? {
        guard let key = try? resolver.platforms[delivery.platform]?.key(of: handle) else { return nil }
        let query = RegistrationQuery(
            hub: delivery.notification.hub, filter: .handle(platform: delivery.platform, key: key), limit: 100,
            now: time.now)
        let rendering = page.bindingIndices.isEmpty ? nil : page.renderings[Int(page.bindingIndices[index])]
        let suitable = try await devices.registrations(query).registrations.filter {
            $0.template == rendering?.template && $0.pushVariables == rendering?.variables ?? $0.pushVariables
                && !named.contains($0.id)
        }
        guard case .audience(let expression?) = delivery.notification.target else { return suitable.first?.id }
        return (suitable.first { expression.matches(Set($0.tags)) } ?? suitable.first)?.id
    }
}
