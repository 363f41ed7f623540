import MartletCore
import MartletHTTP
import MartletModel

/// A push service whose handles are addresses: each pigeon knows its own loft, `https://host/name`. Its answers mean what
/// those of `CarrierPigeon` do, but that 503 is a wait of the loft's host.
struct HomingPigeon: PushService {
    static let platform = PlatformID(rawValue: "homing")
    static let handlesAreAddresses = true
    static let tokensAreForOneOrigin = true

    static let descriptor = PushPlatformDescriptor(
        platform: platform, format: "homing",
        registration: .init(element: "Homing", handleElements: ["Loft"]),
        credential: .init(element: "HomingCredential", fields: [.init(name: "Ring", flag: "ring", help: "The ring.")]),
        outcomeCounts: .init(element: "HomingOutcomeCounts"),
        fieldPrefixes: [], payloadLimit: 1000)

    private var home: HTTPOrigin?

    init(credential: Credential) throws(PushServiceError) {}

    static func key(of handle: PushHandle) throws(PushServiceError) -> String { handle.text }

    static func check(_ message: Message) throws(PushServiceError) {}

    static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        Message(body: Array(text.utf8))
    }

    static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        Message(body: Array(data.texts.map(\.value).joined(separator: "\n").utf8))
    }

    func origin(of handle: UnsafeBufferPointer<UInt8>) throws(PushServiceError) -> HTTPOrigin {
        guard let origin = HTTPOrigin.splitting(String(decoding: handle, as: UTF8.self))?.origin else {
            throw PushServiceError(.badHandle, "The pigeon has no home.")
        }
        return origin
    }

    func at(_ origin: HTTPOrigin) -> HomingPigeon {
        var pigeon = self
        pigeon.home = origin
        return pigeon
    }

    func authorization(at now: Timestamp) throws(PushServiceError) -> Authorization {
        .token(
            AuthorizationToken(
                value: "\(home?.host ?? "")-\(now.seconds)", renewableAt: now + .seconds(600),
                expiresAt: now + .seconds(3600)))
    }

    func shared(
        _ message: Message, token: String?, expiry: Timestamp, at now: Timestamp
    ) throws(PushServiceError) -> RequestBatch.Shared {
        guard let home else { throw PushServiceError(.badHandle, "The pigeon has no home.") }
        return RequestBatch.Shared(
            origin: home, settings: TransportSettings(addresses: .publicOnly), pathPrefix: "/",
            fields: ["authorization": token ?? ""], itemFieldNames: ["id"])
    }

    func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch
    ) throws(PushServiceError) {
        let path = HTTPOrigin.splitting(String(decoding: handle, as: UTF8.self))?.rest.dropFirst() ?? ""
        guard path != "blind" else { throw PushServiceError(.badHandle, "The pigeon does not see its loft.") }
        guard path != "choosy" else { throw PushServiceError(.unsuited, "The loft takes no letters.") }
        batch.append(path: path.utf8, values: [Array(id.description.utf8)], body: message.body)
    }

    func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome {
        switch response.status.code {
        case 201: .accepted
        case 503: Outcome(.pnsUnavailable, reason: "Storm", .retry(after: .seconds(60), scope: .origin))
        default: Outcome(.unknownError, reason: "Unknown", .refuse)
        }
    }
}
