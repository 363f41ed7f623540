import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting

/// A pigeon whose service slows down for everybody on a connection on which it had to refuse somebody.
struct ShyPigeon: PushService {
    static let platform = PlatformID(rawValue: "shy")

    static let descriptor: PushPlatformDescriptor = {
        var descriptor = CarrierPigeon.descriptor
        descriptor.platform = platform
        descriptor.credentialPlatform = CarrierPigeon.platform
        return descriptor
    }()

    static let slowsConnectionsOfStaleDevices = true

    private let pigeon: CarrierPigeon

    init(credential: Credential) throws(PushServiceError) {
        pigeon = try CarrierPigeon(credential: credential)
    }

    static func key(of handle: PushHandle) throws(PushServiceError) -> String { try CarrierPigeon.key(of: handle) }

    static func check(_ message: Message) throws(PushServiceError) { try CarrierPigeon.check(message) }

    static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        try CarrierPigeon.message(showing: text, id: id)
    }

    static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        try CarrierPigeon.message(carrying: data)
    }

    func authorization(at now: Timestamp) throws(PushServiceError) -> Authorization {
        try pigeon.authorization(at: now)
    }

    func shared(
        _ message: Message, token: String?, expiry: Timestamp, at now: Timestamp
    ) throws(PushServiceError) -> RequestBatch.Shared {
        try pigeon.shared(message, token: token, expiry: expiry, at: now)
    }

    func append(
        _ handle: UnsafeBufferPointer<UInt8>, id: MessageID, message: Message, to batch: inout RequestBatch
    ) {
        pigeon.append(handle, id: id, message: message, to: &batch)
    }

    func outcome(of response: HTTPResponse, at now: Timestamp) -> Outcome { pigeon.outcome(of: response, at: now) }
}
