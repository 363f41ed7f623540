import MartletCore
import MartletCrypto
import MartletModel

/// How urgent a push is (RFC 8030, section 5.3).
enum WebPushUrgency: String, CaseIterable {
    case veryLow = "very-low"
    case low
    case normal
    case high
}

/// What a sender has said of a message beside its body (RFC 8030, sections 5.2 to 5.4).
struct WebPushHeaders: Equatable {
    /// The service's own names, and those that the hub's clients give them.
    static let fieldNames = hubNames.map(\.own) + hubNames.flatMap(\.names)

    /// How long the service keeps the message for a browser that is away, in seconds; nil for as long as the hub would.
    let timeToLive: Int64?
    let urgency: WebPushUrgency?
    /// What an undelivered message is replaced by.
    let topic: String?

    private static let hubNames = [
        (own: "ttl", names: ["servicebusnotification-timetolive", "servicebusnotification-ttl"]),
        (own: "urgency", names: ["servicebusnotification-urgency"]),
        (own: "topic", names: ["servicebusnotification-topic"]),
    ]
    private static let topicLimit = 32

    init(_ message: Message) throws(PushServiceError) {
        let fields = Self.normalized(message).fields
        guard Self.isUsable(fields["ttl"], as: "ttl") else {
            throw PushServiceError(.badMessage, "TTL must be a whole number of seconds, 0 or more.")
        }
        guard Self.isUsable(fields["urgency"], as: "urgency") else {
            throw PushServiceError(.badMessage, "Urgency must be very-low, low, normal or high.")
        }
        guard Self.isUsable(fields["topic"], as: "topic") else {
            throw PushServiceError(
                .badMessage, "Topic must be base64url: at most \(Self.topicLimit) letters, digits, - and _.")
        }
        timeToLive = fields["ttl"].flatMap(Int64.init)
        urgency = fields["urgency"].flatMap { WebPushUrgency(rawValue: $0.lowercased()) }
        topic = fields["topic"]
    }

    /// The hub's own fields become the service's, which are the stronger ones. What cannot be read under a name of the
    /// hub's is as good as nothing: no client is refused for it.
    static func normalized(_ message: Message) -> Message {
        var message = message
        for (own, names) in hubNames {
            if message.fields[own]?.isEmpty == true { message.fields[own] = nil }
            for name in names {
                guard let text = message.fields.removeValue(forKey: name), message.fields[own] == nil, !text.isEmpty,
                    isUsable(text, as: own)
                else { continue }
                message.fields[own] = text
            }
        }
        return message
    }

    private static func isUsable(_ text: String?, as field: String) -> Bool {
        guard let text else { return true }
        return switch field {
        case "ttl": text.utf8.allSatisfy { (0x30...0x39).contains($0) } && Int64(text) != nil
        case "urgency": WebPushUrgency(rawValue: text.lowercased()) != nil
        default: isTopic(text)
        }
    }

    /// One service insists on a length that base64url can have.
    static func isTopic(_ text: String) -> Bool {
        (1...topicLimit).contains(text.utf8.count) && text.utf8.count % 4 != 1
            && text.utf8.allSatisfy { character in
                switch character {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
