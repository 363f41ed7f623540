import MartletCore
import MartletHTTP
import MartletModel

/// Sends texts that no push service sees. The texts stay at the server, sealed; the pushes carry their ids.
struct SecureRoutes: Sendable {
    let backend: Backend

    /// The maximum length of a text in bytes.
    static let payloadLimit = 65_536
    /// The maximum size of a body in bytes, with room for the longest text even if all of it is escaped.
    private static let bodyLimit = 6 * payloadLimit + 65_536

    func add(to router: inout Router) {
        router.on(.post, "/api/notifications/secure", bodyLimit: Self.bodyLimit, streamsBody: true) { request, _ in
            await backend.answer(collecting: request) { (caller, request) throws(BackendError) in
                HTTPResponse(created: try await send(request, from: caller))
            }
        }
    }

    private func send(_ request: HTTPRequest, from caller: Caller) async throws(BackendError) -> PayloadID {
        let order = try SecureOrder(try RequestBody(request), from: caller.name)
        try backend.check(caller, maySendTo: order.audience)
        let identity = try IdempotencyKey(request, of: caller, on: "secure").map { $0.identity(of: order.content) }
        return try await PayloadSender(backend: backend).send(order, from: caller.name, request: identity)
    }
}

extension PayloadSender {
    func send(
        _ order: SecureOrder, from sender: UserName, request: RequestIdentity? = nil
    ) async throws(BackendError) -> PayloadID {
        let now = backend.time.now
        let draft = PayloadDraft(
            kind: .secure, sender: sender.folded, message: order.message, content: .text(Array(order.payload.utf8)),
            isOnce: order.isOnce, createdAt: now, expiresAt: now + order.lifetime)
        let outcome = await send(draft, to: order.audience, request: request) {
            .secure($0, message: order.message)
        }
        return try outcome.result.get()
    }
}
