import MartletCore
import MartletModel

/// A hint in the form in which nodes send it to each other: a letter and some numbers.
enum HintText: Equatable {
    /// There are new deliveries. This hint is for the owner of the hub. The numbers are the owner's incarnation, the
    /// hub, the first new delivery and the number of the change.
    case deliveries(owner: Int64, hub: Hub.ID, first: Delivery.ID, change: Int64)
    /// A control, a schedule or a job of the hub has changed. This hint is for the owner of the hub.
    case hub(owner: Int64, Hub.ID, change: Int64)
    /// A hub, an access rule or an operator has changed. This hint is for all nodes.
    case directory

    var text: String {
        switch self {
        case .deliveries(let owner, let hub, let first, let change):
            "d \(owner) \(hub.rawValue) \(first.rawValue) \(change)"
        case .hub(let owner, let hub, let change): "h \(owner) \(hub.rawValue) \(change)"
        case .directory: "n"
        }
    }

    /// Decodes a hint; nil if the text has a form that this version does not know.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Int64($0) }
        guard let letter = words.first, numbers.count == words.count - 1 else { return nil }
        switch (letter, numbers.count) {
        case ("d", 4):
            self = .deliveries(
                owner: numbers[0], hub: Hub.ID(rawValue: numbers[1]), first: Delivery.ID(rawValue: numbers[2]),
                change: numbers[3])
        case ("h", 3): self = .hub(owner: numbers[0], Hub.ID(rawValue: numbers[1]), change: numbers[2])
        case ("n", 0): self = .directory
        default: return nil
        }
    }

    /// Returns the hint as a node gets it; nil if the hint is for another node.
    func hint(to node: Int64) -> NodeHint? {
        switch self {
        case .deliveries(node, let hub, let first, let change): .deliveries(first: first, in: hub, change: change)
        case .hub(node, let hub, let change): .hub(hub, change: change)
        case .directory: .directory
        case .deliveries, .hub: nil
        }
    }
}
