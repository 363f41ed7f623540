import MartletCore
import MartletModel

/// The `apns-` fields of a push: what the caller stated, checked, and what follows from the payload where nothing was
/// stated (PushServices.md, sections 1.4 and 1.5).
struct APNsHeaders: Equatable {
    var pushType: APNsPushType
    var priority: APNsPriority
    /// Unix seconds; 0 means one attempt; nil means that the caller left it open.
    var expiration: Int64?
    var collapseID: String?
    /// Stated by the caller; nil means the app's own with the kind's suffix.
    var topic: String?

    static let collapseIDLimit = 64
    /// What the hub's clients call the expiry, and what a published sample calls it.
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

    /// What collapses a message: the id among those to one app.
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

    /// Whether a text can be a topic: a bundle id's letters, at most 255 of them.
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
        // The hub's own field comes in so many forms that one which cannot be read is as good as none.
        return fields.expiry.flatMap(APNsExpiry.seconds)
    }

    /// An event with its time or state is a Live Activity's; `content-available` with nothing to show, play or badge is a
    /// background push; everything else is an alert.
    private static func inferredType(of body: [UInt8]) -> APNsPushType {
        guard mayNameKind(body), let aps = (try? JSON(parsing: body))?["aps"] else { return .alert }
        if APNsLiveActivity.isMeant(by: aps) { return .liveactivity }
        guard let available = aps["content-available"], available == 1 || available == true else { return .alert }
        return ["alert", "sound", "badge"].contains { aps[$0] != nil } ? .alert : .background
    }

    /// Whether a JSON text may have a member without which a push is an alert: most have none, which shows without parsing
    /// them. Only with an escape a name has other bytes than its own.
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

/// A caller's fields under the names they may travel by: `apns-…` or `x-apns-…`.
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
