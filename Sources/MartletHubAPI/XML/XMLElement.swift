/// An element of a received document. Names are local names: the namespace that a client writes is ignored
/// (NotificationHubs.md, section 0).
struct XMLElement: Hashable, Sendable {
    let name: String
    /// The attributes, keyed by local name.
    var attributes: [String: String] = [:]
    var children: [XMLElement] = []
    /// The concatenated text directly inside the element, excluding its children.
    var text = ""

    /// Returns the first child with a name; nil if there is none, or if all such children are marked as nil
    /// (`i:nil="true"`).
    func child(_ name: String) -> XMLElement? {
        children.first { $0.name == name && !$0.isNil }
    }

    /// True if the element is marked as nil (`i:nil="true"`).
    var isNil: Bool { ["true", "1"].contains(attributes["nil"]) }
}
