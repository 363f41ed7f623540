import MartletCore
import MartletModel

/// A hint as nodes send it to each other: a letter and numbers.
enum HintText: Equatable {
    /// To the owner of a hub. The numbers are its incarnation, the hub, the first delivery and the number of the change.
    case deliveries(owner: Int64, hub: Hub.ID, first: Delivery.ID, change: Int64)
    /// To the owner of a hub.
    case hub(owner: Int64, Hub.ID, change: Int64)
    /// To all nodes.
    case directory

    var text: String {
        switch self {
        case .deliveries(let owner, let hub, let first, let change):
            "d \(owner) \(hub.rawValue) \(first.rawValue) \(change)"
        case .hub(let owner, let hub, let change): "h \(owner) \(hub.rawValue) \(change)"
        case .directory: "n"
        }
    }

    /// Nil if the text is of a version that is not known here.
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

    /// What the hint says to a node; nil if it is for another.
    func hint(to node: Int64) -> NodeHint? {
        switch self {
        case .deliveries(node, let hub, let first, let change): .deliveries(first: first, in: hub, change: change)
        case .hub(node, let hub, let change): .hub(hub, change: change)
        case .directory: .directory
        case .deliveries, .hub: nil
        }
    }
}
