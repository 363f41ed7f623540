import MartletCore
import MartletHTTP
import MartletModel

/// The handler of `POST /api/notifications` without a query, which the apps of Microsoft's tutorials send
/// (NotificationHubs.md, section 14). It sends a sample notification to the caller's devices.
struct SampleSender: Sendable {
    let backend: Backend

    func answer(_ caller: Caller) async throws(BackendError) -> HTTPResponse {
        guard let sample = backend.settings.payloads.sample else { throw .noSample }
        try backend.check(caller, maySendTo: .users([caller.name]))
        let id =
            switch sample {
            case .rich: try await sendImage(to: caller.name)
            case .secure: try await sendSecret(to: caller.name)
            }
        return HTTPResponse(.ok, json: ["id": .integer(Int64(id.rawValue))])
    }

    private func sendSecret(to user: UserName) async throws(BackendError) -> PayloadID {
        try await PayloadSender(backend: backend).send(
            SecureOrder(payload: "Secure confirmation.", to: user), from: user)
    }

    private func sendImage(to user: UserName) async throws(BackendError) -> PayloadID {
        var fields = RichFields()
        fields.message = "Here is a picture for you."
        fields.contentType = "image/png"
        let order = try RichOrder(fields, from: user)
        return try await PayloadSender(backend: backend).send(from: user) { upload throws(BackendError) in
            try await upload.write(SampleImage.png)
            return order
        }
    }
}
