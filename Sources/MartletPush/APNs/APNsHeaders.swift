import MartletCore
import MartletModel

/// The `apns-` fields of a push.
///
/// The fields that the caller stated are checked, and missing fields are derived from the payload (PushServices.md,
/// sections 1.4 and 1.5).
struct APNsHeaders: Equatable {
    var pushType: APNsPushType
    var priority: APNsPriority
    /// The expiration in Unix seconds, where 0 means that the service tries only once; nil if the caller did not state
    /// it. The notification's expiry is then used. The value is 0 for a `pushtotalk` push without a stated expiration.
    var expiration: Int64?
    var collapseID: String?
    /// The topic that the caller stated; nil means the app's bundle id with the suffix of the push type.
    var topic: String?

    static let collapseIDLimit = 64
    /// The two names of the hub's own expiry field. Clients send the first name; the second is in a comment of the
    /// Python sample (NotificationHubs.md, section 6.2).
    static let expiryFields = ["servicebusnotification-apns-expiry", "servicebusnotification-apnsexpiry"]

    init(_ message: Message) throws(PushServiceError) {
        let fields = APNsFields(message.fields)
        topic = try Self.topic(fields)
        collapseID = try Self.collapseID(fields)
        expiration = try Self.expiration(fields)
        let stated = try Self.pushType(fields)
        pushType = stated ?? topic.flatMap(APNsPushType.init(suffixOf:)) ?? Self.inferredType(of: message.body)
        priority = try Self.priority(fields) ?? pushType.defaultPriority
        if pushType == .background, priority == .immediate {
            guard stated == nil else {
                throw PushServiceError(.badMessage, "A background push cannot have priority 10; state 5 or none.")
            }
            priority = .powerAware
        }
        if let topic, !pushType.fits(topic) {
            let suffix = pushType.topicSuffix
            throw PushServiceError(
                .badMessage,
                "The topic of a push of type \(pushType.rawValue) "
                    + (suffix.isEmpty ? "has no suffix of another type." : "ends in \(suffix)."))
        }
        if expiration == nil, pushType == .pushtotalk { expiration = 0 }
    }

    private static func pushType(_ fields: APNsFields) throws(PushServiceError) -> APNsPushType? {
        guard let text = fields["push-type"] else { return nil }
        guard let type = APNsPushType(rawValue: text.lowercased()) else {
            let known = APNsPushType.allCases.map(\.rawValue).joined(separator: ", ")
            throw PushServiceError(.badMessage, "apns-push-type must be one of \(known).")
        }
        return type
    }

    private static func priority(_ fields: APNsFields) throws(PushServiceError) -> APNsPriority? {
        guard let text = fields["priority"] else { return nil }
        guard let priority = Int(text).flatMap(APNsPriority.init(rawValue:)) else {
            throw PushServiceError(.badMessage, "apns-priority must be 10, 5 or 1.")
        }
        return priority
    }

    private static func collapseID(_ fields: APNsFields) throws(PushServiceError) -> String? {
        guard let text = fields["collapse-id"] else { return nil }
        guard text.utf8.count <= collapseIDLimit, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw PushServiceError(.badMessage, "apns-collapse-id must be text of at most \(collapseIDLimit) bytes.")
        }
        return text
    }

    /// Returns the collapse key of a message, which consists of the message's collapse id and topic. The topic is part
    /// of the key, because messages to different apps do not replace each other. Returns nil if there is no collapse
    /// id.
    static func collapseKey(of message: Message) -> String? {
        let fields = APNsFields(message.fields)
        return fields["collapse-id"].map { Payload.key([$0, fields["topic"] ?? ""]) }
    }

    private static func topic(_ fields: APNsFields) throws(PushServiceError) -> String? {
        guard let text = fields["topic"] else { return nil }
        guard isTopic(text) else {
            throw PushServiceError(.badMessage, "apns-topic must be a bundle id, with the suffix of the push type.")
        }
        return text
    }

    /// Returns whether a text can be a topic: at most 255 of the characters that are allowed in a bundle id.
    static func isTopic(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { character in
                switch character {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    private static func expiration(_ fields: APNsFields) throws(PushServiceError) -> Int64? {
        if let text = fields["expiration"] {
            guard let seconds = Int64(text), seconds >= 0 else {
                throw PushServiceError(.badMessage, "apns-expiration must be Unix time in whole seconds, or 0.")
            }
            return seconds
        }
        // The hub's own field is written in so many forms that a value that cannot be parsed is ignored.
        return fields.expiry.flatMap(APNsExpiry.seconds)
    }

    /// Infers the push type from a payload, for a message whose fields state no type.
    ///
    /// A payload with `event`, and with `timestamp` or `content-state`, is a Live Activity push. A payload with
    /// `content-available`, but without an alert, a sound or a badge, is a background push. Every other payload is an
    /// alert.
    private static func inferredType(of body: [UInt8]) -> APNsPushType {
        guard mayNameKind(body), let aps = (try? JSON(parsing: body))?["aps"] else { return .alert }
        if APNsLiveActivity.isMeant(by: aps) { return .liveactivity }
        guard let available = aps["content-available"], available == 1 || available == true else { return .alert }
        return ["alert", "sound", "badge"].contains { aps[$0] != nil } ? .alert : .background
    }

    /// Returns whether a JSON text may contain the member `event` or `content-available`, which can make the push
    /// something other than an alert.
    ///
    /// Most texts contain neither name. This check recognizes them without parsing. A name that is written with an
    /// escape sequence has different bytes, so a text with a backslash must always be parsed.
    private static func mayNameKind(_ body: [UInt8]) -> Bool {
        body.indices.contains { index in
            switch body[index] {
            case UInt8(ascii: "\\"): true
            case UInt8(ascii: "e"): body[index...].starts(with: "event\"".utf8)
            case UInt8(ascii: "-"): body[index...].starts(with: "-available\"".utf8)
            default: false
            }
        }
    }
}

/// The header fields that a caller has set. The name of a field may be written as `apns-…` or as `x-apns-…`.
private struct APNsFields {
    private let fields: [String: String]

    init(_ fields: [String: String]) {
        self.fields = fields
    }

    subscript(name: String) -> String? {
        guard !fields.isEmpty else { return nil }
        return (fields["apns-\(name)"] ?? fields["x-apns-\(name)"]).flatMap { $0.isEmpty ? nil : $0 }
    }

    var expiry: String? {
        APNsHeaders.expiryFields.lazy.compactMap { fields[$0] }.first
    }
}
