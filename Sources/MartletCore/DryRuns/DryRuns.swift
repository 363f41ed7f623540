public import MartletModel

/// Predicts the result of a send. Nothing is sent or stored, and no send is slowed down.
public struct DryRuns: Sendable {
    let devices: any DeviceStore
    let platforms: PushPlatformList
    private let check: NotificationCheck
    let credentials: CredentialChecker
    let templates = CompiledTemplates(byteLimit: 2 << 20)
    private let notifications: any NotificationStore
    private let time: any TimeSource

    init(
        devices: any DeviceStore, notifications: any NotificationStore, platforms: PushPlatformList,
        credentials: CredentialChecker, time: any TimeSource
    ) {
        self.devices = devices
        self.notifications = notifications
        self.platforms = platforms
        self.credentials = credentials
        check = NotificationCheck(platforms: platforms)
        self.time = time
    }

    /// Predicts the result of a send, without sending anything.
    /// - Parameters:
    ///   - dueAt: When the send would begin; nil to begin at once.
    ///   - expiry: When the send would expire; nil for `NotificationIntake.lifetime` after its start.
    ///   - rollout: The roll-out; nil to send as fast as possible.
    public func run(
        _ content: Notification.Content, to target: Notification.Target, in hub: Hub.ID, dueAt: Timestamp? = nil,
        expiry: Expiry? = nil, rollout: Rollout? = nil
    ) async throws(StorageError) -> DryRun {
        // This must not run on the event loop of the request, because thousands of templates may have to be rendered.
        let result = await Task.detached { () -> Result<DryRun, StorageError> in
            do throws(StorageError) {
                return .success(try await self.tried(content, target, hub, from: dueAt, expiry, rollout))
            } catch {
                return .failure(error)
            }
        }.value
        return try result.get()
    }

    private func tried(
        _ content: Notification.Content, _ target: Notification.Target, _ hub: Hub.ID, from dueAt: Timestamp?,
        _ expiry: Expiry?, _ rollout: Rollout?
    ) async throws(StorageError) -> DryRun {
        let now = time.now
        let start = max(dueAt ?? now, now)
        var send = Send(
            hub: hub, content: content, target: target, now: now, expiry: start + NotificationIntake.lifetime,
            id: NotificationID(at: now))
        var run = DryRun(startsAt: start, expiresAt: send.expiry, rollout: rollout)
        run.missed = dueAt.flatMap { $0 + Self.tolerance < now ? $0 : nil }
        do throws(NotificationIntakeError) {
            (send.content, send.target) = try check.checked(content, target, at: now)
            if let expiry {
                send.expiry = try expiry.timestamp(from: start)
                send.statesExpiry = true
                run.expiresAt = send.expiry
            }
            try NotificationIntake.check(rollout, from: start, to: send.expiry, at: now)
            if case .message(let composed) = content {
                run.excess = try check.excess(
                    of: composed, on: try await platforms(of: hub), id: send.id, at: now)
                if let excess = run.excess { throw NotificationIntakeError.tooLarge(excess.description) }
            }
        } catch {
            run.refusal = error.sentence
            send.isRefused = true
        }
        switch send.target {
        case .direct(let handles):
            guard case .native(let platform, _) = send.content else { return run }
            let counts = AudienceCount.PlatformCounts(native: handles.count, devices: handles.count)
            run.platforms = [try await result(of: send, on: platform, counts)]
        case .audience(let expression):
            var count = try await count(expression, send)
            run.count = count
            if case .message(let composed) = send.content {
                run.templatesOnly = Self.keepNatives(of: composed, in: &count)
                run.missingLanguages = try await missingLanguages(of: composed, expression, send)
            }
            for platform in send.platform.map({ [$0] }) ?? count.platforms.keys.sorted() {
                let counts = count.platforms[platform] ?? AudienceCount.PlatformCounts()
                run.platforms.append(try await result(of: send, on: platform, counts))
            }
        }
        return run
    }

    /// A requested start time that is in the past by at most this duration is not reported in `DryRun.missed`.
    private static let tolerance: Duration = .seconds(60)

    /// A send whose result is being predicted.
    struct Send: Sendable {
        var hub: Hub.ID
        var content: Notification.Content
        var target: Notification.Target
        var now: Timestamp
        var expiry: Timestamp
        /// The notification id, for payloads that contain it.
        var id: NotificationID
        var statesExpiry = false
        var isRefused = false

        /// The platform of native content; nil for other content, which is for all platforms.
        var platform: PlatformID? {
            if case .native(let platform, _) = content { platform } else { nil }
        }

        var isDirect: Bool {
            if case .direct = target { true } else { false }
        }

        var kind: AudienceQuery.Kind {
            switch content {
            case .native, .message: .native
            case .template: .template
            }
        }
    }

    private func platforms(of hub: Hub.ID) async throws(NotificationIntakeError) -> [PlatformID] {
        do throws(StorageError) {
            return try await notifications.nativePlatforms(in: hub)
        } catch {
            throw .storage(error)
        }
    }

    private func count(_ expression: TagExpression?, _ send: Send) async throws(StorageError) -> AudienceCount {
        var query = AudienceCountQuery(hub: send.hub, expression: expression, kind: send.kind, now: send.now)
        query.platform = send.platform
        if case .message(let content) = send.content {
            // Registrations with and without templates are counted, to report the devices that a message does not
            // reach.
            query.kind = nil
            if content.languages.count > 1 { query.languages = content.languages }
        }
        if send.kind == .template { query.renderingLimit = DryRun.renderingLimit }
        return try await devices.audienceCount(query)
    }
}

extension NotificationIntakeError {
    fileprivate var sentence: String {
        switch self {
        case .invalid(let sentence), .tooLarge(let sentence): sentence
        case .conflicting: "The key of the request was used for another one."
        case .backlogged(let excess): excess.sentence + "."
        case .storage(let error): error.detail
        }
    }
}
