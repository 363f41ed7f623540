import MartletModel

/// A real browser as its push service knows it: by the id that it was given, with its subscriptions and what waits for it.
struct SimulatedBrowser {
    /// A subscription of one of the browser's pages.
    struct Channel {
        /// What follows the prefix of the endpoint's path.
        let token: String
        let endpoint: String
        let senderKey: [UInt8]?
    }

    /// A message that the browser has not acknowledged.
    struct Message {
        /// Which it is, among all; the browser calls it the version.
        let id: String
        let channel: String
        let body: [UInt8]
        let topic: String?
        let keptUntil: Timestamp
    }

    /// What the browser said became of a message.
    struct Acknowledgement {
        let id: String
        let channel: String
        let code: Int64
    }

    static let channelLimit = 500
    private static let messageLimit = 500
    private static let acknowledgementLimit = 200

    let id: String
    /// How many there were before it.
    let index: Int
    /// The connection; nil while the browser is away.
    var socket: UInt64?
    var channels: [String: Channel] = [:]
    private(set) var messages: [Message] = []
    private(set) var acknowledgements: [Acknowledgement] = []

    init(id: String, index: Int) {
        self.id = id
        self.index = index
    }

    /// Keeps a message until it is acknowledged; one of the same topic makes way for it.
    mutating func keep(_ message: Message) {
        messages.removeAll { message.topic != nil && $0.topic == message.topic && $0.channel == message.channel }
        messages = messages.suffix(Self.messageLimit - 1) + [message]
    }

    /// Forgets what is not wanted any more.
    /// - Returns: What is still to be delivered, oldest first.
    mutating func waiting(at now: Timestamp) -> [Message] {
        messages.removeAll { $0.keptUntil <= now }
        return messages
    }

    /// Whatever the browser says of a message, it is not sent again.
    mutating func acknowledge(_ acknowledgement: Acknowledgement) {
        messages.removeAll { $0.id == acknowledgement.id && $0.channel == acknowledgement.channel }
        acknowledgements = acknowledgements.suffix(Self.acknowledgementLimit - 1) + [acknowledgement]
    }

    /// The page gives the subscription up.
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
