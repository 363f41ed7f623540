/// An element of a document that somebody sent. Names are local names: which namespace a client writes does not matter
/// (NotificationHubs.md, section 0).
struct XMLElement: Hashable, Sendable {
    let name: String
    /// By local name.
    var attributes: [String: String] = [:]
    var children: [XMLElement] = []
    /// The character data that is directly in the element, joined.
    var text = ""

    /// The first child of a name, unless it says that it is nil (`i:nil="true"`).
    func child(_ name: String) -> XMLElement? {
        children.first { $0.name == name && !$0.isNil }
    }

    /// Whether it says that it is nothing (`i:nil="true"`).
    var isNil: Bool { ["true", "1"].contains(attributes["nil"]) }
}
