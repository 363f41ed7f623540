/// The message of each member of a page.
struct PageMessages: Sendable {
    /// Whether the messages have different bodies, so that each request of a batch gets a body of its own.
    let haveOwnBodies: Bool
    private let messages: [Message]
    /// For each member of the page, the index of its message in `messages`; empty if all members get the first message.
    private let messageIndices: [UInt32]

    /// Creates the messages of a page in which all members get the same message.
    init(_ message: Message) {
        haveOwnBodies = false
        messages = [message]
        messageIndices = []
    }

    init(_ messages: [Message], byIndex messageIndices: [UInt32], haveOwnBodies: Bool) {
        self.haveOwnBodies = haveOwnBodies
        self.messages = messages
        self.messageIndices = messageIndices
    }

    /// The message of a member.
    /// - Parameter index: The index of a member in the page.
    subscript(index: Int) -> Message {
        messages[messageIndices.isEmpty ? 0 : Int(messageIndices[index])]
    }
}
