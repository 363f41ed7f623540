import MartletCore
import MartletModel

/// The change that a node has made in a hub of another node, and that the owner must read.
struct SendChange: Equatable {
    /// The first of the new deliveries; nil if there are none.
    var firstDelivery: Delivery.ID?
    /// True if a control, a schedule or a job has changed.
    var isOfHub = false

    static let none = SendChange()
    static let hub = SendChange(isOfHub: true)

    mutating func formUnion(_ other: SendChange) {
        if let first = other.firstDelivery { firstDelivery = min(firstDelivery ?? first, first) }
        isOfHub = isOfHub || other.isOfHub
    }

    /// Counts the change, if another node owns the shard. All new deliveries of one transaction count as one change,
    /// and so do all other changes of the hub.
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

/// The consequences of a write by a node that does not own the hub.
struct Elsewhere<Value: Sendable>: Sendable {
    /// Returns the change that the owner must read.
    var change: @Sendable (Value) -> SendChange = { _ in .none }
    /// Returns the result for the caller.
    var answer: @Sendable (Value) -> Value = { $0 }
}

// The owner of the hub sends the deliveries. So the results for callers on other nodes contain no deliveries.

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
