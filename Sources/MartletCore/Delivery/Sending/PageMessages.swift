/// The message of each member of a page.
struct PageMessages: Sendable {
    /// Whether the messages differ in their bodies, and in nothing else that a request shows.
    let haveOwnBodies: Bool
    private let messages: [Message]
    /// The index of the message for each index of the page; empty if all members get the first message.
    private let messageIndices: [UInt32]

    /// One message for all members.
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

    /// - Parameter index: The index of a member in the page.
    subscript(index: Int) -> Message {
        messages[messageIndices.isEmpty ? 0 : Int(messageIndices[index])]
    }
}
