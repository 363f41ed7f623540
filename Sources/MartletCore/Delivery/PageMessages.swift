/// What the members of a page are sent.
struct PageMessages: Sendable {
    /// Whether the messages differ in their bodies, though in nothing else that a request shows.
    let haveOwnBodies: Bool
    private let messages: [Message]
    /// For each place of the page the place of its message; empty where all have the first.
    private let messagePlaces: [UInt32]

    /// One message for all.
    init(_ message: Message) {
        haveOwnBodies = false
        messages = [message]
        messagePlaces = []
    }

    init(_ messages: [Message], byPlace messagePlaces: [UInt32], haveOwnBodies: Bool) {
        self.haveOwnBodies = haveOwnBodies
        self.messages = messages
        self.messagePlaces = messagePlaces
    }

    /// - Parameter place: A place in the page.
    subscript(place: Int) -> Message {
        messages[messagePlaces.isEmpty ? 0 : Int(messagePlaces[place])]
    }
}
