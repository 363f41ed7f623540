import MartletCore
import MartletHTTP
import MartletModel

/// A device's receipts for the notifications that it received: `{"device", "receipts": [{"notification", "event",
/// "at"}]}`.
struct ReceiptBody: Sendable {
    /// The id of the device's registration.
    let device: String
    let receipts: [Receipt]

    static let sizeLimit = 262_144
    private static let countLimit = 500

    init(_ request: HTTPRequest) throws(BackendError) {
        let body = try RequestBody(request)
        device = try body.string("device")
        do throws(DeviceRegistryError) {
            try DeviceRegistry.check(device)
        } catch {
            throw body.refusal("needs as \"device\" the id that the device is registered under.")
        }
        var receipts: [Receipt] = []
        for entry in try body.objects("receipts", count: 1...Self.countLimit) {
            receipts.append(try Self.receipt(entry))
        }
        self.receipts = receipts
    }

    private static func receipt(_ entry: RequestBody) throws(BackendError) -> Receipt {
        guard let subject = subject(try entry.string("notification")) else {
            throw entry.refusal("needs as \"notification\" the id that a push has brought.")
        }
        guard let event = Receipt.Event(rawValue: try entry.string("event")) else {
            throw entry.refusal("needs as \"event\" received or opened.")
        }
        guard let at = Timestamp(iso8601: try entry.string("at")) else {
            throw entry.refusal("needs as \"at\" a time such as 2026-01-31T12:00:00Z.")
        }
        return Receipt(subject: subject, event: event, at: at)
    }

    /// Reads the id of a payload or of a notification. The two kinds of ids are distinguished by their length. nil if
    /// the text is neither.
    private static func subject(_ text: String) -> Receipt.Subject? {
        PayloadID(text).map { .payload($0) } ?? NotificationID(text).map { .notification($0) }
    }
}
