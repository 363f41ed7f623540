import MartletCore
import MartletCrypto
import MartletModel

/// The urgency of a push (RFC 8030, section 5.3).
enum WebPushUrgency: String, CaseIterable {
    case veryLow = "very-low"
    case low
    case normal
    case high
}

/// The header fields of a message (RFC 8030, sections 5.2 to 5.4).
struct WebPushHeaders: Equatable {
    /// The names of the header fields: the fields of Web Push, such as `ttl`, and the fields that a hub also accepts
    /// for them, such as `servicebusnotification-ttl`.
    static let fieldNames = hubNames.map(\.own) + hubNames.flatMap(\.names)

    /// How long the service stores the message for a browser that is not connected, in seconds; nil if the message
    /// states no time. The service then stores it until the notification expires.
    let timeToLive: Int64?
    let urgency: WebPushUrgency?
    /// The topic of the message. The message replaces an older undelivered message with the same topic.
    let topic: String?

    private static let hubNames = [
        (own: "ttl", names: ["servicebusnotification-timetolive", "servicebusnotification-ttl"]),
        (own: "urgency", names: ["servicebusnotification-urgency"]),
        (own: "topic", names: ["servicebusnotification-topic"]),
    ]
    static let topicLimit = 32

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

    /// Replaces each `servicebusnotification-` field by the field of Web Push with the same meaning. If a message has
    /// both, the field of Web Push is kept. An invalid value in a `servicebusnotification-` field is ignored, so that
    /// the send is not refused because of it.
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

    /// Returns whether a text is a valid topic.
    ///
    /// Apple accepts only lengths that are possible in base64url, so a length of 1 modulo 4 is not valid.
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
