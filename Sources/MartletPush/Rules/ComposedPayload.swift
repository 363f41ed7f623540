import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// Functions that several platforms share to write and read the payloads of composed messages.
enum ComposedPayload {
    /// The names under which the app gets properties of a composed message, such as its link. These properties are
    /// mixed with the sender's data, so senders cannot use these names for their own data.
    enum Name {
        static let link = PayloadName.link.rawValue
        static let picture = PayloadName.picture.rawValue
        static let actions = PayloadName.actions.rawValue
        static let subtitle = PayloadName.subtitle.rawValue
        static let badge = PayloadName.badge.rawValue
    }

    /// Returns the values that are for the app alone: the sender's data, the notification id, the link, the subtitle
    /// and the actions.
    ///
    /// Every value is a string, because the data of some platforms can contain only strings.
    static func texts(
        of message: LocalizedMessage, id: NotificationID, on platform: any PushPlatform.Type
    ) -> [String: String] {
        var texts = message.data
        texts[platform.notificationIDName] = id.description
        texts[Name.link] = message.link
        texts[Name.subtitle] = message.subtitle
        if !message.actions.isEmpty { texts[Name.actions] = message.actionsJSON.text }
        return texts
    }

    /// Returns the notification id, the link, the badge and the sender's data as the query of a URL.
    ///
    /// This form is for platforms whose payload has a single text for the app.
    static func query(of message: LocalizedMessage, id: NotificationID, on platform: any PushPlatform.Type) -> String {
        var items = [(platform.notificationIDName, id.description)]
        if let link = message.link { items.append((Name.link, link)) }
        if let badge = message.badge { items.append((Name.badge, text(of: badge))) }
        items += message.data.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return items.map { "\($0.0)=\(PercentEncoding.encode($0.1))" }.joined(separator: "&")
    }

    /// Returns a badge as text: its number, or `+1` for an increment.
    static func text(of badge: ComposedMessage.Badge) -> String {
        switch badge {
        case .number(let number): String(number)
        case .increment: "+1"
        }
    }

    /// Returns a collapse key or a thread identifier in a form that a platform accepts. A text that is valid there is
    /// returned unchanged. Any other text is replaced by the first characters of its SHA-256 hash in base64url.
    /// - Parameters:
    ///   - limit: The maximum length on the platform, in characters; at most 43.
    ///   - isValid: Returns whether the platform accepts the text unchanged.
    static func key(_ text: String, limit: Int, isValid: (String) -> Bool) -> String {
        isValid(text) ? text : String(Base64URL.encode(SHA256.hash(Array(text.utf8))).prefix(limit))
    }

    /// Returns the body of a silent message as JSON: the sender's data and the notification id.
    ///
    /// This form is for platforms that define no format for such messages.
    static func raw(_ message: LocalizedMessage, id: NotificationID, on platform: any PushPlatform.Type) -> [UInt8] {
        var texts = message.data
        texts[platform.notificationIDName] = id.description
        return JSON.object(texts.mapValues(JSON.string)).bytes
    }

    // MARK: Reading

    /// Parses the query of a URL into values by name. The first of several items with the same name counts, and
    /// malformed items are skipped.
    static func items(of query: String) -> [String: String] {
        let items = query.split(separator: "&").compactMap { item -> (String, String)? in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = PercentEncoding.decode(parts[1]) else { return nil }
            return (String(parts[0]), value)
        }
        return Dictionary(items) { first, _ in first }
    }

    /// Returns the titles of a message's buttons.
    /// - Parameter actions: The buttons, in the form `[{"title": …}]`.
    static func actionTitles(_ actions: JSON?) -> [String] {
        (actions?.array ?? []).compactMap { $0["title"]?.string }
    }

    /// Returns the titles of a message's buttons.
    /// - Parameter text: A string that contains the buttons as JSON text, in the form `[{"title": …}]`.
    static func actionTitles(in text: JSON?) -> [String] {
        text?.string.flatMap { try? JSON(parsing: Array($0.utf8), maximumDepth: 8) }.map { actionTitles($0) } ?? []
    }

    /// Sets the badge of an appearance, or the step by which the badge is incremented.
    ///
    /// The badge in the payload is a number, a text with a number, or `+1`. Any other value changes nothing.
    static func setBadge(_ badge: JSON?, of appearance: inout Appearance) {
        if badge == "+1" {
            appearance.badgeStep = 1
        } else if let number = badge?.integer ?? badge?.string.flatMap({ Int64($0) }) {
            appearance.badge = Int(exactly: number)
        }
    }
}

extension XMLText {
    /// Escapes a text as the content of an element.
    static func content(_ text: String) -> String {
        var bytes: [UInt8] = []
        TemplateFormat.xml.appendValue(Array(text.utf8), to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Escapes a text as the value of an attribute in double quotes.
    static func attribute(_ text: String) -> String {
        content(text).replacing("\"", with: "&quot;").replacing("\n", with: "&#10;").replacing("\t", with: "&#9;")
    }
}
