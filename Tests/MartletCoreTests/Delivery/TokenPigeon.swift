import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting

/// A service whose tokens come from elsewhere and are good for an hour; its credential is good for a day.
struct TokenPigeon: PushService {
    static let descriptor = PushPlatformDescriptor(
        platform: PlatformID(rawValue: "token"), format: "token",
        registration: .init(element: "Token", handleElements: ["Loft"]),
        credential: .init(element: "TokenCredential", fields: [.init(name: "Nest", flag: "nest", help: "The nest.")]),
        outcomeCounts: .init(element: "TokenOutcomeCounts"),
        fieldPrefixes: [], payloadLimit: 1000)

    private static let origin = HTTPOrigin(scheme: .https, host: "tokens.example")

    /// Of every credential, reckoned from the start of the tests' clock.
    static let end = ManualTimeSource().now + .seconds(86_400)

    let expiresAt: Timestamp? = Self.end

    init(credential: Credential) throws(PushServiceError) {}

    static func key(of handle: PushHandle) throws(PushServiceError) -> String { handle.text }
    static func check(_ message: Message) throws(PushServiceError) {}
    static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        Message(body: Array(text.utf8))
    }

    static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        Message(body: Array(data.texts.map(\.value).joined(separator: "\n").utf8))
    }

    func authorization(at now: Timestamp) throws(PushServiceError) -> Authorization {
        .exchange(TokenExchange(HTTPRequest(.post, "/token"), to: Self.origin))
    }

    func token(from response: HTTPResponse, at now: Timestamp) -> TokenAnswer {
        switch response.status {
        case .ok:
            .token(
                AuthorizationToken(
                    value: String(decoding: response.bytes, as: UTF8.self), renewableAt: now,
                    expiresAt: now + .seconds(3600)))
        case .serviceUnavailable:
            .refused(Outcome(.pnsUnavailable, reason: "busy", .retry(after: .seconds(60), scope: .platform)))
        default:
            .refused(Outcome(.invalidCredentials, reason: "status \(response.status.code)", .stop))
        }
    }

    func shared(
        _ message: Message, token: String?, expiry: Timestamp, at now: Timestamp
    ) throws(PushServiceError) -> RequestBatch.Shared {
        RequestBatch.Shared(origin: Self.origin, pathPrefix: "/", body: message.body)
    }

    func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch
    ) throws(PushServiceError) {
        batch.append(path: handle)
    }

    func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome { .accepted }
}
