import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting

/// A platform of its own that does everything as a carrier pigeon does, with the pigeon's credential.
protocol PigeonInDisguise: PushService {
    var pigeon: CarrierPigeon { get }
}

extension PigeonInDisguise {
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
