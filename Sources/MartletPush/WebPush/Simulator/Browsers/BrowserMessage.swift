import MartletModel

/// A message from a browser to its push service (BrowserPush.md, section 3).
enum BrowserMessage: Equatable {
    /// The browser connects.
    /// - Parameter id: The id that the service has assigned to the browser earlier; nil if the browser has no
    ///   subscriptions.
    case hello(id: String?)
    /// The browser creates a subscription.
    /// - Parameter key: The key of the sender that the subscription is for, as text; nil for any sender.
    case register(channel: String, key: String?)
    /// The browser cancels a subscription.
    /// - Parameter code: The reason: 200 if the page cancelled the subscription, 201 if a quota is used up, 202 if the
    ///   user withdrew the permission.
    case unregister(channel: String, code: Int64?)
    case acknowledge([Update])
    /// The browser reports that the page's service worker failed to handle a message that the browser has already
    /// acknowledged.
    case complain(code: Int64?)
    case ping
    /// The browser subscribes to broadcasts. The simulator sends none.
    case subscribeToBroadcasts

    struct Update: Equatable {
        let channel: String
        let version: String
        /// The result for the message: 100 for delivered, 101 for not decrypted, 102 for not delivered.
        let code: Int64
    }

    private static let depthLimit = 8
    private static let updateLimit = 1000

    /// Parses a message; nil if the text is not a browser's message, if its JSON is nested too deeply, or if it
    /// acknowledges too many messages.
    init?(_ text: String) {
        guard let message = try? JSON(parsing: Array(text.utf8), maximumDepth: Self.depthLimit),
            let members = message.object
        else { return nil }
        guard let type = message["messageType"]?.string else {
            guard members.isEmpty else { return nil }
            self = .ping
            return
        }
        switch type {
        case "hello": self = .hello(id: message["uaid"]?.string)
        case "ping": self = .ping
        case "broadcast_subscribe": self = .subscribeToBroadcasts
        case "nack": self = .complain(code: message["code"]?.integer)
        case "ack":
            guard let updates = message["updates"]?.array, updates.count <= Self.updateLimit else { return nil }
            self = .acknowledge(updates.compactMap(Self.update))
        case "register":
            guard let channel = Self.channel(message) else { return nil }
            self = .register(channel: channel, key: message["key"]?.string)
        case "unregister":
            guard let channel = Self.channel(message) else { return nil }
            self = .unregister(channel: channel, code: message["code"]?.integer)
        default: return nil
        }
    }

    private static func update(_ json: JSON) -> Update? {
        guard let channel = channel(json), let version = json["version"]?.string else { return nil }
        return Update(channel: channel, version: version, code: json["code"]?.integer ?? 100)
    }

    /// Returns the id that the browser has assigned to a subscription, a UUID in lower case with dashes; nil if the
    /// message has no such id.
    private static func channel(_ json: JSON) -> String? {
        guard let text = json["channelID"]?.string, text.utf8.count == 36 else { return nil }
        let isUUID = text.utf8.enumerated().allSatisfy { index, digit in
            switch index {
            case 8, 13, 18, 23: digit == UInt8(ascii: "-")
            default:
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit || UInt8(ascii: "a")...UInt8(ascii: "f") ~= digit
            }
        }
        return isUUID ? text : nil
    }
}
