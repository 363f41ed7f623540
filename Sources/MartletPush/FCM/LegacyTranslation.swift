import MartletModel

/// Translates a payload of the legacy API to a message of the HTTP v1 API (PushServices.md, section 2.7).
///
/// Members without an equivalent are left out, and their names are in `dropped`. The member `apns` is added only if the
/// payload has a badge, a subtitle, a sound, `content_available` or `mutable_content`. For Apple devices, the HTTP v1
/// API has these settings only in `apns`.
struct LegacyTranslation {
    /// The content of the translated message, without the envelope `{"message":…}`.
    private(set) var content: [String: JSON] = [:]
    /// Whether FCM only validates the message and delivers it to no device (`dry_run`).
    private(set) var isDryRun = false
    /// The names in the legacy payload that were left out, such as `delay_while_idle` and `data.x`.
    private(set) var dropped: [String] = []

    private var android: [String: JSON] = [:]
    private var androidNotification: [String: JSON] = [:]
    private var aps: [String: JSON] = [:]
    private var appleHeaders: [String: JSON] = [:]
    private let now: Timestamp

    init(_ payload: [String: JSON], at now: Timestamp) {
        self.now = now
        for (name, value) in payload where !take(name, value) { dropped.append(name) }
        if !androidNotification.isEmpty { android["notification"] = .object(androidNotification) }
        if !android.isEmpty { content["android"] = .object(android) }
        if !aps.isEmpty {
            content["apns"] = ["payload": ["aps": .object(aps)]]
            if !appleHeaders.isEmpty {
                content["apns"] = ["headers": .object(appleHeaders), "payload": ["aps": .object(aps)]]
            }
        }
    }

    /// Translates one member of the payload.
    /// - Returns: Whether the member has an equivalent in the HTTP v1 API.
    private mutating func take(_ name: String, _ value: JSON) -> Bool {
        switch name {
        case "data": takeData(value)
        case "notification": takeNotification(value)
        case "priority": return takePriority(value)
        case "time_to_live": return takeTimeToLive(value)
        case "collapse_key":
            guard let key = Self.text(value) else { return false }
            android[name] = .string(key)
            // A key of more than 64 bytes is left out for Apple devices, because APNs does not accept it.
            if key.utf8.count <= 64 { appleHeaders["apns-collapse-id"] = .string(key) }
        case "restricted_package_name":
            guard let package = Self.text(value) else { return false }
            android[name] = .string(package)
        case "direct_boot_ok":
            guard let isSet = Self.truth(value) else { return false }
            android[name] = .bool(isSet)
        case "content_available", "mutable_content":
            guard let isSet = Self.truth(value) else { return false }
            if isSet { aps[name.replacing("_", with: "-")] = 1 }
        case "dry_run":
            guard let isSet = Self.truth(value) else { return false }
            isDryRun = isSet
        default: return false
        }
        return true
    }

    /// Converts the values of `data` to text, which is the form in which the legacy API delivered them to devices.
    private mutating func takeData(_ value: JSON) {
        guard let members = value.object else {
            content["data"] = value
            return
        }
        var data: [String: JSON] = [:]
        for (name, value) in members {
            if value == .null {
                dropped.append("data.\(name)")
            } else {
                data[name] = .string(value.string ?? value.text)
            }
        }
        content["data"] = .object(data)
    }

    private mutating func takePriority(_ value: JSON) -> Bool {
        switch Self.text(value)?.lowercased() {
        case "high", "10":
            android["priority"] = "HIGH"
            appleHeaders["apns-priority"] = "10"
        case "normal", "5":
            android["priority"] = "NORMAL"
            appleHeaders["apns-priority"] = "5"
        default: return false
        }
        return true
    }

    private mutating func takeTimeToLive(_ value: JSON) -> Bool {
        guard let seconds = Self.number(value) else { return false }
        // A value out of range is translated unchanged. The check of the whole message refuses it later.
        android["ttl"] = .string("\(seconds)s")
        if (0...Int64(FCMMessage.timeToLiveLimit)).contains(seconds) {
            appleHeaders["apns-expiration"] = .string(String(now.seconds + seconds))
        }
        return true
    }

    // MARK: Notifications

    private mutating func takeNotification(_ value: JSON) {
        guard let members = value.object else {
            content["notification"] = value
            return
        }
        var notification: [String: JSON] = [:]
        for (name, value) in members {
            switch name {
            case "title", "body", "image":
                notification[name] = Self.text(value).map(JSON.string)
                if notification[name] == nil { dropped.append("notification.\(name)") }
            case _ where takeForOneSystem(name, value): break
            default: dropped.append("notification.\(name)")
            }
        }
        if let subtitle = members["subtitle"].flatMap(Self.text) {
            // An alert in the part for Apple devices replaces the whole notification, so it must also contain the title
            // and the body.
            var alert = notification.filter { $0.key != "image" }
            alert["subtitle"] = .string(subtitle)
            aps["alert"] = .object(alert)
        }
        if !notification.isEmpty { content["notification"] = .object(notification) }
    }

    private mutating func takeForOneSystem(_ name: String, _ value: JSON) -> Bool {
        switch name {
        case "icon", "tag", "color", "click_action", "title_loc_key", "body_loc_key":
            guard let text = Self.text(value) else { return false }
            androidNotification[name] = .string(text)
        case "android_channel_id":
            guard let text = Self.text(value) else { return false }
            androidNotification["channel_id"] = .string(text)
        case "title_loc_args", "body_loc_args":
            guard let arguments = Self.texts(value) else { return false }
            androidNotification[name] = .array(arguments.map(JSON.string))
        case "sound":
            guard let sound = Self.text(value) else { return false }
            androidNotification[name] = .string(sound)
            aps[name] = .string(sound)
        case "badge":
            guard let badge = Self.number(value) else { return false }
            aps[name] = .integer(badge)
        case "subtitle":
            return Self.text(value) != nil
        default: return false
        }
        return true
    }

    // MARK: Values

    /// Returns the text of a string, a number or a Boolean; nil for any other value.
    private static func text(_ value: JSON) -> String? {
        switch value {
        case .string(let text): text
        case .integer, .double, .bool: value.text
        case .null, .array, .object: nil
        }
    }

    private static func number(_ value: JSON) -> Int64? {
        value.integer ?? value.string.flatMap { Int64($0) }
    }

    private static func truth(_ value: JSON) -> Bool? {
        switch value {
        case .bool(let isSet): isSet
        case .integer(0), .string("false"): false
        case .integer(1), .string("true"): true
        default: nil
        }
    }

    /// Returns the texts of the elements of an array; nil if the value is not an array, or if an element has no text.
    ///
    /// The array may also be written as JSON text in a string.
    private static func texts(_ value: JSON) -> [String]? {
        let array = value.array ?? value.string.flatMap { try? JSON(parsing: Array($0.utf8), maximumDepth: 4) }?.array
        let texts = array?.compactMap(text)
        return texts?.count == array?.count ? texts : nil
    }
}
