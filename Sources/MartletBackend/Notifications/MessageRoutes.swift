import MartletCore
import MartletHTTP
import MartletModel

/// The route that sends one message for all platforms to users.
struct MessageRoutes: Sendable {
    let backend: Backend

    /// The maximum size of a body in bytes, with room for the largest message and its recipients.
    private static let bodyLimit = ComposedMessage.Limit.body + 16_384

    func add(to router: inout Router) {
        router.on(
            .post, "/api/notifications/message", bodyLimit: Self.bodyLimit, streamsBody: true
        ) { request, _ in
            await backend.answer(collecting: request) { (caller, request) throws(BackendError) in
                let id = try await send(request, from: caller)
                return HTTPResponse(.created, json: ["id": .string(id.description)])
            }
        }
    }

    /// Accepts a message. An unknown recipient is not an error, so that a caller cannot find out which users exist.
    private func send(_ request: HTTPRequest, from caller: Caller) async throws(BackendError) -> NotificationID {
        let hub = try backend.hub.hub()
        let order = try MessageOrder(request, from: caller)
        try backend.check(caller, maySendTo: order.audience)
        let identity = try IdempotencyKey(request, of: caller, on: "message").map { $0.identity(of: order.digest) }
        do throws(NotificationIntakeError) {
            return try await backend.intake.accept(
                .message(order.content), to: .audience(audience(of: order, from: caller)), in: hub.id,
                request: identity, author: .user(caller.name.folded))
        } catch {
            throw BackendError(error)
        }
    }

    /// Returns the tag expression that selects the recipients of a message. It is a single expression, however many
    /// users the message is for, because one notification has one id.
    private func audience(of order: MessageOrder, from caller: Caller) -> TagExpression {
        switch order.audience {
        case .tags(let expression): return expression
        case .users(let names):
            var tags = names.map { TagExpression.tag($0.tag) }
            if backend.settings.showsSenders { tags.append(.tag(caller.name.fromTag)) }
            return tags.count == 1 ? tags[0] : .or(tags)
        }
    }
}
