import MartletModel

/// The type of a JSON field in a request to FCM. The simulator uses it to check the names and values of fields.
///
/// Names and types are those of the service's API description (PushServices.md, sections 2.2 and 2.3).
indirect enum FCMField {
    case text
    case flag
    case whole
    case number
    case choice(Set<String>)
    case list(FCMField)
    /// An object whose values are texts. The sender chooses the names of its members.
    case texts
    /// An object with any content.
    case anything
    case object([String: FCMField])

    /// Returns the type of the whole body of a request.
    static func envelope() -> FCMField {
        .object(["validate_only": .flag, "message": .object(message())])
    }

    private static func message() -> [String: FCMField] {
        [
            "name": .text, "token": .text, "topic": .text, "condition": .text, "data": .texts,
            "notification": .object(["title": .text, "body": .text, "image": .text]),
            "android": .object(android()), "webpush": .object(webpush()), "apns": .object(apns()),
            "fcm_options": .object(["analytics_label": .text]),
        ]
    }

    private static func android() -> [String: FCMField] {
        [
            "collapse_key": .text, "priority": .choice(["NORMAL", "HIGH"]), "ttl": .text,
            "restricted_package_name": .text, "data": .texts, "notification": .object(androidNotification()),
            "fcm_options": .object(["analytics_label": .text]), "direct_boot_ok": .flag,
            "bandwidth_constrained_ok": .flag, "restricted_satellite_ok": .flag,
        ]
    }

    private static func androidNotification() -> [String: FCMField] {
        [
            "title": .text, "body": .text, "icon": .text, "color": .text, "sound": .text, "tag": .text,
            "click_action": .text, "body_loc_key": .text, "body_loc_args": .list(.text), "title_loc_key": .text,
            "title_loc_args": .list(.text), "channel_id": .text, "ticker": .text, "sticky": .flag,
            "event_time": .text, "local_only": .flag,
            "notification_priority": .choice([
                "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH",
                "PRIORITY_MAX",
            ]),
            "default_sound": .flag, "default_vibrate_timings": .flag, "default_light_settings": .flag,
            "vibrate_timings": .list(.text),
            "visibility": .choice(["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
            "notification_count": .whole,
            "light_settings": .object([
                "color": .object(["red": .number, "green": .number, "blue": .number, "alpha": .number]),
                "light_on_duration": .text, "light_off_duration": .text,
            ]),
            "image": .text, "bypass_proxy_notification": .flag,
            "proxy": .choice(["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
        ]
    }

    private static func webpush() -> [String: FCMField] {
        [
            "headers": .texts, "data": .texts, "notification": .anything,
            "fcm_options": .object(["link": .text, "analytics_label": .text]),
        ]
    }

    private static func apns() -> [String: FCMField] {
        [
            "headers": .texts, "payload": .anything, "live_activity_token": .text,
            "fcm_options": .object(["image": .text, "analytics_label": .text]),
        ]
    }
}

// MARK: Reading

extension FCMField {
    /// Returns a value with all member names in the spelling of the API description, `snake_case`. The names may also
    /// be given in `lowerCamelCase`.
    /// - Parameter path: The path of the value, such as `message.android`.
    /// - Throws: `FCMRefusal` naming the first member that is unknown or of the wrong type.
    func read(_ value: JSON, at path: String) throws(FCMRefusal) -> JSON {
        switch (self, value) {
        case (_, .null), (.text, .string), (.flag, .bool), (.whole, .integer), (.number, .integer), (.number, .double),
            (.anything, .object):
            return value
        case (.choice(let names), .string(let name)) where names.contains(name.uppercased()):
            return .string(name.uppercased())
        case (.texts, .object(let members)):
            if let wrong = members.keys.sorted().first(where: { members[$0]?.string == nil }) {
                throw .violation(path, "Invalid value at '\(path)' (TYPE_STRING), \(members[wrong]?.text ?? "")")
            }
            return value
        case (.list(let field), .array(let elements)):
            var read: [JSON] = []
            for (index, element) in elements.enumerated() {
                read.append(try field.read(element, at: "\(path)[\(index)]"))
            }
            return .array(read)
        case (.object(let fields), .object(let members)):
            return try Self.read(members, fields, at: path)
        default:
            throw .violation(path, "Invalid value at '\(path)', \(value.text)")
        }
    }

    private static func read(
        _ members: [String: JSON], _ fields: [String: FCMField], at path: String
    ) throws(FCMRefusal) -> JSON {
        var read: [String: JSON] = [:]
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            let known = snakeCase(name)
            guard let field = fields[known] else {
                let position = path.isEmpty ? "" : " at '\(path)'"
                throw .violation(
                    path, "Invalid JSON payload received. Unknown name \"\(name)\"\(position): Cannot find field.")
            }
            let value = try field.read(value, at: path.isEmpty ? known : "\(path).\(known)")
            if value != .null { read[known] = value }
        }
        return .object(read)
    }

    private static func snakeCase(_ name: String) -> String {
        name.reduce(into: "") { text, character in
            if character.isUppercase { text += "_" }
            text += character.lowercased()
        }
    }
}
