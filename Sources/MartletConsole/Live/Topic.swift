import MartletModel

/// A subject about which a page gets events on its stream.
enum Topic: Hashable, Sendable {
    case now
    /// One send of a hub.
    case send(hub: String, id: String)
    /// The sends of a hub.
    case sends(hub: String)

    /// The maximum number of topics of one stream.
    static let countLimit = 8

    /// Parses a topic; nil if the text is not a topic.
    /// - Parameter text: `now`, `send:HUB:ID` or `sends:HUB`.
    init?(_ text: Substring) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.count) {
        case ("now", 1): self = .now
        case ("sends", 2) where !parts[1].isEmpty: self = .sends(hub: parts[1].lowercased())
        case ("send", 3) where !parts[1].isEmpty && !parts[2].isEmpty:
            self = .send(hub: parts[1].lowercased(), id: parts[2].lowercased())
        default: return nil
        }
    }

    /// Parses a list of topics that are separated by commas.
    /// - Returns: nil if an element is not a topic, or if there are no topics or too many.
    static func list(_ text: String) -> [Topic]? {
        let parts = text.split(separator: ",")
        let topics = parts.compactMap { Topic($0) }
        guard topics.count == parts.count, (1...countLimit).contains(topics.count) else { return nil }
        return topics
    }

    /// The hub that the topic is about; nil if the topic is about the server.
    var hub: String? {
        switch self {
        case .now: nil
        case .send(let hub, _), .sends(let hub): hub
        }
    }
}
