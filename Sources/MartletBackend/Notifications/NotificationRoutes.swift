import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// Sends notifications to users by name.
struct NotificationRoutes: Sendable {
    let backend: Backend

    /// The maximum size of a body in bytes, with room for the longest text that any platform accepts, even if all of it
    /// is escaped.
    private static let bodyLimit = 65_536
    /// The word that stands for all platforms in place of a platform's name.
    private static let allPlatforms = "all"

    func add(to router: inout Router) {
        router.on(.post, "/api/notifications", bodyLimit: Self.bodyLimit, streamsBody: true) { request, match in
            await backend.answer(collecting: request) { (caller, request) throws(BackendError) in
                guard !match.target.query.isEmpty else {
                    return try await SampleSender(backend: backend).answer(caller)
                }
                let sent = try await notify(request, match.target, from: caller)
                var answer: [String: JSON] = ["id": .string(sent[0].id.description)]
                if isForAll(match.target) {
                    let ids = sent.map { ($0.platform.rawValue, JSON.string($0.id.description)) }
                    answer["ids"] = .object(Dictionary(uniqueKeysWithValues: ids))
                }
                return HTTPResponse(.ok, json: .object(answer))
            }
        }
    }

    /// The text that a request sends to a user.
    private struct TextSend {
        let text: String
        let recipient: UserName
        let isForAll: Bool
    }

    /// A push that is about to be accepted.
    private struct Push {
        let platform: PlatformID
        let message: Message
        /// What identifies the request that sends it; nil if the request has no idempotency key.
        let identity: RequestIdentity?
        let id: NotificationID
    }

    /// Returns whether the request is for all platforms that the hub can send to.
    private func isForAll(_ target: HTTPTarget) -> Bool {
        target.query.contains { $0.name.lowercased() == "pns" && $0.value == Self.allPlatforms }
    }

    /// Accepts a message to a user. An unknown user is no error, so that callers cannot find out which users exist.
    /// - Returns: The notifications in the order of the platforms; at least one.
    private func notify(
        _ request: HTTPRequest, _ target: HTTPTarget, from caller: Caller
    ) async throws(BackendError) -> [(platform: PlatformID, id: NotificationID)] {
        let hub = try backend.hub.hub()
        let name = try parameter("pns", of: target)
        let isForAll = isForAll(target)
        let platforms = isForAll ? backend.hub.platforms(of: hub) : [try backend.platform(named: name)]
        let recipient = try UserName(recipient: try parameter("to_tag", of: target))
        try backend.check(caller, maySendTo: .users([recipient]))
        guard case .string(let text) = try RequestBody.json(request) else {
            throw .badMessage("The body must be the message as a JSON string, such as \"hello\".")
        }
        guard ShownText.isAllowed(text) else { throw .controlCharacters }
        let send = TextSend(text: text, recipient: recipient, isForAll: isForAll)
        // All messages are rendered before the first is sent. If one is too large for its platform, nothing is sent.
        // The exception is a repeated request: it sends what is missing on the platforms whose message still fits.
        var pushes: [Push] = []
        var refusal: BackendError? = platforms.isEmpty ? .nothingToSendWith : nil
        for platform in platforms {
            let identity = try identity(of: send, on: platform.descriptor.platform, request, caller)
            let id = backend.intake.makeID()
            do throws(BackendError) {
                let message = try rendered("From \(caller.name): \(text)", id: id, on: platform)
                pushes.append(
                    Push(platform: platform.descriptor.platform, message: message, identity: identity, id: id))
            } catch {
                refusal = error
            }
        }
        // What was accepted earlier is answered again, whatever has changed since then: the hub may have lost a
        // credential, or have got one for a platform with a smaller limit.
        var ids: [PlatformID: NotificationID] = [:]
        for platform in isForAll ? Array(backend.platforms) : platforms
        where refusal != nil || !platforms.contains(where: { $0 == platform }) {
            let name = platform.descriptor.platform
            guard let identity = try identity(of: send, on: name, request, caller) else { break }
            ids[name] = try await earlier(identity, in: hub.id)
        }
        if let refusal, ids.isEmpty { throw refusal }
        let audience: TagExpression =
            backend.settings.showsSenders
            ? .or([.tag(recipient.tag), .tag(caller.name.fromTag)]) : .tag(recipient.tag)
        for push in pushes where ids[push.platform] == nil {
            ids[push.platform] = try await accept(push, to: audience, in: hub.id, from: caller)
        }
        return backend.platforms.compactMap { platform in
            let platform = platform.descriptor.platform
            return ids[platform].map { (platform, $0) }
        }
    }

    /// Returns what identifies a request on one platform; nil if the request has no idempotency key. Each platform has
    /// its own idempotency record, so that a repeated request finishes an interrupted send.
    private func identity(
        of send: TextSend, on platform: PlatformID, _ request: HTTPRequest, _ caller: Caller
    ) throws(BackendError) -> RequestIdentity? {
        let route = send.isForAll ? "text to all: \(platform.rawValue)" : "text"
        return try IdempotencyKey(request, of: caller, on: route)?.identity(
            of: content(send.text, to: send.recipient, on: platform))
    }

    /// Returns the notification that was accepted for an earlier attempt of a request; nil if there is none.
    private func earlier(
        _ identity: RequestIdentity, in hub: Hub.ID
    ) async throws(BackendError) -> NotificationID? {
        do throws(NotificationIntakeError) {
            return try await backend.intake.earlier(identity, in: hub)
        } catch {
            throw BackendError(error)
        }
    }

    /// Accepts a push.
    /// - Returns: The id of the notification; for a repeated request, the id from the first attempt.
    private func accept(
        _ push: Push, to audience: TagExpression, in hub: Hub.ID, from caller: Caller
    ) async throws(BackendError) -> NotificationID {
        do throws(NotificationIntakeError) {
            return try await backend.intake.accept(
                .native(push.platform, push.message), to: .audience(audience), in: hub, id: push.id,
                request: push.identity, author: .user(caller.name.folded))
        } catch {
            throw BackendError(error)
        }
    }

    /// Returns what a request asks for on a platform, by which a repeated request is compared with the first.
    private func content(_ text: String, to recipient: UserName, on platform: PlatformID) -> DigestInput {
        var content = DigestInput()
        for part in [platform.rawValue, recipient.folded, text] { content.append(part) }
        return content
    }

    private func rendered(
        _ text: String, id: NotificationID, on platform: any PushPlatform.Type
    ) throws(BackendError) -> Message {
        do throws(PushServiceError) {
            return try platform.message(showing: text, id: id)
        } catch {
            throw error.kind == .messageTooLarge ? .messageTooLarge(error.description) : .badMessage(error.description)
        }
    }

    private func parameter(_ name: String, of target: HTTPTarget) throws(BackendError) -> String {
        let values = target.query.filter { $0.name.lowercased() == name }.map(\.value)
        guard values.count == 1, let value = values[0], !value.isEmpty else {
            throw .badParameters(
                "Say the platform and the recipient, each once: POST /api/notifications?pns=PLATFORM&to_tag=USER.")
        }
        return value
    }
}
