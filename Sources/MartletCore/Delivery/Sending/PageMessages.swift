/// What the members of a page are sent.
struct PageMessages: Sendable {
    /// Whether the messages differ in their bodies, though in nothing else that a request shows.
    let haveOwnBodies: Bool
    private let messages: [Message]
    /// For each index of the page the index of its message; empty where all have the first.
    private let messageIndices: [UInt32]

    /// One message for all.
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

    /// - Parameter index: An index in the page.
    subscript(index: Int) -> Message {
        messages[messageIndices.isEmpty ? 0 : Int(messageIndices[index])]
    }
}
