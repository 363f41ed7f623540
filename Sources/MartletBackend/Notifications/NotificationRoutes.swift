import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// Notifying users by name.
struct NotificationRoutes: Sendable {
    let backend: Backend

    /// Room for the longest text that any platform takes, however much of it is escaped.
    private static let bodyLimit = 65_536

    func add(to router: inout Router) {
        router.on(.post, "/api/notifications", bodyLimit: Self.bodyLimit, streamsBody: true) { request, match in
            await backend.answer(collecting: request) { (caller, request) throws(BackendError) in
                guard !match.target.query.isEmpty else {
                    return try await SampleSender(backend: backend).answer(caller)
                }
                let id = try await notify(request, match.target, from: caller)
                return HTTPResponse(.ok, json: ["id": .string(id.description)])
            }
        }
    }

    /// Accepts a message to a user. One whom nobody knows is no error, so that nobody can find out who is there.
    private func notify(
        _ request: HTTPRequest, _ target: HTTPTarget, from caller: Caller
    ) async throws(BackendError) -> NotificationID {
        let hub = try backend.hub.hub()
        let platform = try backend.platform(named: try parameter("pns", of: target))
        let recipient = try UserName(recipient: try parameter("to_tag", of: target))
        try backend.check(caller, maySendTo: .users([recipient]))
        guard case .string(let text) = try RequestBody.json(request) else {
            throw .badMessage("The body must be the message as a JSON string, such as \"hello\".")
        }
        let identity = try IdempotencyKey(request, of: caller, on: "text").map { key in
            var content = DigestInput()
            for part in [platform.descriptor.platform.rawValue, recipient.folded, text] { content.append(part) }
            return key.identity(of: content)
        }
        let id = backend.intake.makeID()
        let message = try message("From \(caller.name): \(text)", id: id, on: platform)
        let audience: TagExpression =
            backend.settings.showsSenders
            ? .or([.tag(recipient.tag), .tag(caller.name.fromTag)]) : .tag(recipient.tag)
        do throws(NotificationIntakeError) {
            return try await backend.intake.accept(
                .native(platform.descriptor.platform, message), to: .audience(audience), in: hub.id, id: id,
                request: identity)
        } catch {
            throw BackendError(error)
        }
    }

    private func message(
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
