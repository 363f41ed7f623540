import MartletCrypto
import MartletModel

/// The checked parameters of a secure notification.
struct SecureOrder {
    let audience: SendAudience
    let payload: String
    /// The text that is shown if the user has to log in first; may be empty.
    let message: String
    /// Whether each addressee may read the text only once.
    let isOnce: Bool
    let lifetime: Duration

    private static let defaultLifetime = Duration.seconds(86_400)

    init(_ body: RequestBody, from sender: UserName) throws(BackendError) {
        payload = try body.string("payload")
        guard payload.utf8.count <= SecureRoutes.payloadLimit else {
            throw .payloadTooLarge(Int64(SecureRoutes.payloadLimit))
        }
        audience = try SendAudience(
            users: try body.optionalStrings("to"), tags: try body.optionalString("tags"), from: sender)
        message = try body.optionalString("message") ?? ""
        guard ShownText.isAllowed(message) else { throw .controlCharacters }
        isOnce = try body.optionalBool("once") ?? false
        lifetime = try body.lifetime().map { .seconds($0) } ?? Self.defaultLifetime
    }

    /// The whole content of the request, from which the request's digest is computed.
    var content: DigestInput {
        var content = audience.content
        for part in [payload, message, String(isOnce), "\(lifetime)"] { content.append(part) }
        return content
    }

    /// Creates an order for the sender's own devices.
    init(payload: String, to user: UserName) {
        audience = .users([user])
        self.payload = payload
        message = ""
        isOnce = false
        lifetime = Self.defaultLifetime
    }
}
