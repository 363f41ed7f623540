import MartletModel

/// A real browser from the point of view of its push service: the id that was assigned to it, its subscriptions, and
/// the messages that wait for it.
struct SimulatedBrowser {
    /// A subscription of one of the browser's pages.
    struct Channel {
        /// The token of the subscription: the part of the endpoint's path after `WebPushFlavour.pathPrefix`.
        let token: String
        let endpoint: String
        let senderKey: [UInt8]?
    }

    /// A message that the browser has not acknowledged.
    struct Message {
        /// The unique id of the message. The browser calls it the version.
        let id: String
        let channel: String
        let body: [UInt8]
        let topic: String?
        let keptUntil: Timestamp
    }

    /// The browser's report on a message. The codes are those of `BrowserMessage.Update`.
    struct Acknowledgement {
        let id: String
        let channel: String
        let code: Int64
    }

    static let channelLimit = 500
    private static let messageLimit = 500
    private static let acknowledgementLimit = 200

    let id: String
    /// The number of browsers that were registered before this one.
    let index: Int
    /// The connection; nil while the browser is not connected.
    var socket: UInt64?
    var channels: [String: Channel] = [:]
    private(set) var messages: [Message] = []
    private(set) var acknowledgements: [Acknowledgement] = []

    init(id: String, index: Int) {
        self.id = id
        self.index = index
    }

    /// Stores a message until it is acknowledged. The message replaces an older message with the same topic to the same
    /// subscription. If too many messages are stored, the oldest is removed.
    mutating func keep(_ message: Message) {
        messages.removeAll { message.topic != nil && $0.topic == message.topic && $0.channel == message.channel }
        messages = messages.suffix(Self.messageLimit - 1) + [message]
    }

    /// Removes the messages that have expired, and returns the others, oldest first.
    mutating func waiting(at now: Timestamp) -> [Message] {
        messages.removeAll { $0.keptUntil <= now }
        return messages
    }

    /// Records that a browser has acknowledged a message.
    ///
    /// The message is not sent again, whatever the code of the acknowledgement is.
    mutating func acknowledge(_ acknowledgement: Acknowledgement) {
        messages.removeAll { $0.id == acknowledgement.id && $0.channel == acknowledgement.channel }
        acknowledgements = acknowledgements.suffix(Self.acknowledgementLimit - 1) + [acknowledgement]
    }

    /// Removes a subscription and its waiting messages, and returns the subscription; nil if it is unknown.
    mutating func remove(channel: String) -> Channel? {
        messages.removeAll { $0.channel == channel }
        return channels.removeValue(forKey: channel)
    }

    var json: JSON {
        [
            "id": .string(id), "isConnected": .bool(socket != nil),
            "channels": .object(channels.mapValues { .string($0.endpoint) }),
            "waiting": .array(messages.map { .string($0.id) }),
            "acknowledged": .array(
                acknowledgements.map {
                    ["version": .string($0.id), "channelID": .string($0.channel), "code": .integer($0.code)]
                }),
        ]
    }
}
