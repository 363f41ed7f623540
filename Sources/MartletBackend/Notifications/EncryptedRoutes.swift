import MartletCore
import MartletHTTP
import MartletModel

/// The route that accepts the messages that a sender has encrypted, one for each device of a user.
struct EncryptedRoutes: Sendable {
    let backend: Backend

    func add(to router: inout Router) {
        router.on(
            .post, "/api/notifications/encrypted", bodyLimit: EncryptedBody.sizeLimit, streamsBody: true
        ) { request, _ in
            await backend.answer(collecting: request) { (caller, request) throws(BackendError) in
                let key = try IdempotencyKey(request, of: caller, on: "encrypted")
                let body = try EncryptedBody(request)
                let send = EncryptedSend(
                    backend: backend, caller: caller, body: body, request: key?.identity(of: body.content))
                let devices = try await send.run()
                return HTTPResponse(.created, privateJSON: ["devices": .array(devices.map(Self.json))])
            }
        }
    }

    private static func json(_ sent: EncryptedSend.Sent) -> JSON {
        ["device": .string(sent.device), "id": sent.payload.map { .integer(Int64($0.rawValue)) } ?? .null]
    }
}
