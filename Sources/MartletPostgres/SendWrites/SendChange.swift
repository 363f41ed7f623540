import MartletCore
import MartletModel

/// What the owner of a hub has to look at after a write of another node.
struct SendChange: Equatable {
    /// The first of the deliveries that are new; nil if there are none.
    var firstDelivery: Delivery.ID?
    /// True if a control, a schedule or a job has changed.
    var isOfHub = false

    static let none = SendChange()
    static let hub = SendChange(isOfHub: true)

    mutating func formUnion(_ other: SendChange) {
        if let first = other.firstDelivery { firstDelivery = min(firstDelivery ?? first, first) }
        isOfHub = isOfHub || other.isOfHub
    }

    /// Counts the change if another node owns the shard. Whatever is new in one transaction is one change of each kind.
    /// - Returns: The hints for the owner, to be sent after the COMMIT.
    func count(in numbers: inout SendOrdinals, _ shard: Shard, by node: Int64) -> [HintText] {
        let owner = numbers.node
        guard owner != node else { return [] }
        var hints: [HintText] = []
        if let firstDelivery {
            numbers.changes += 1
            hints.append(.deliveries(owner: owner, hub: shard.hub, first: firstDelivery, change: numbers.changes))
        }
        if isOfHub {
            numbers.changes += 1
            hints.append(.hub(owner: owner, shard.hub, change: numbers.changes))
        }
        return owner == 0 ? [] : hints
    }
}

/// What follows from a write of a node that does not own the hub.
struct Elsewhere<Value: Sendable>: Sendable {
    /// What the owner has to look at.
    var change: @Sendable (Value) -> SendChange = { _ in .none }
    /// What the caller is told.
    var answer: @Sendable (Value) -> Value = { $0 }
}

// The owner sends the deliveries, so no other node is given them.

extension Elsewhere<Acceptance> {
    static func acceptance(of draft: NotificationDraft) -> Elsewhere {
        Elsewhere { acceptance in
            guard case .accepted(_, let deliveries) = acceptance else { return .none }
            return SendChange(
                firstDelivery: deliveries.map(\.id).min(), isOfHub: draft.dueAt != nil || !draft.laterParts.isEmpty)
        } answer: { acceptance in
            if case .accepted(let notification, _) = acceptance { .accepted(notification, []) } else { acceptance }
        }
    }
}

extension Elsewhere<ResendAcceptance> {
    static var resend: Elsewhere {
        Elsewhere { acceptance in
            guard case .accepted(_, let deliveries) = acceptance else { return .none }
            return SendChange(firstDelivery: deliveries.map(\.id).min())
        } answer: { acceptance in
            if case .accepted(let notification, _) = acceptance { .accepted(notification, []) } else { acceptance }
        }
    }
}

extension Elsewhere<Replacement> {
    static var replacement: Elsewhere { Elsewhere { if case .replaced = $0 { .hub } else { .none } } }
}

extension Elsewhere<Cancellation> {
    static var cancellation: Elsewhere { Elsewhere { $0 == .canceled ? .hub : .none } }
}

extension Elsewhere<ControlChange> {
    static var control: Elsewhere { Elsewhere { if case .done = $0 { .hub } else { .none } } }
}
