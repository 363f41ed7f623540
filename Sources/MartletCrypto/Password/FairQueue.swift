/// A queue of work from several shares, which take turns: between two elements of a share there is at most one element
/// of each other share.
///
/// If the queue is full, a new element replaces the last element of the share with the most waiting elements, provided
/// that this share has at least two more waiting elements than the new element's share. In this way, a full queue is
/// divided evenly among the shares.
struct FairQueue<Share: Hashable & Sendable, Element: Sendable>: Sendable {
    enum Admission {
        case waiting
        /// The new element was added, and the associated element was removed from the full queue.
        case replaced(Element)
        case full
    }

    private var waiting: [Share: [Element]] = [:]
    /// The shares with waiting elements, in the order of their turns.
    private var turns: [Share] = []
    private(set) var count = 0
    private let countLimit: Int

    init(countLimit: Int) {
        self.countLimit = countLimit
    }

    mutating func add(_ element: Element, of share: Share) -> Admission {
        guard count >= countLimit else {
            append(element, of: share)
            return .waiting
        }
        let own = waiting[share]?.count ?? 0
        // The search is linear in the number of shares, which is at most `countLimit`.
        guard let longest = turns.max(by: { length(of: $0) < length(of: $1) }), length(of: longest) >= own + 2,
            let replaced = waiting[longest]?.popLast()
        else { return .full }
        count -= 1
        append(element, of: share)
        return .replaced(replaced)
    }

    /// Removes and returns the first element of the share whose turn it is.
    mutating func next() -> Element? {
        guard !turns.isEmpty else { return nil }
        let share = turns.removeFirst()
        guard var elements = waiting.removeValue(forKey: share), !elements.isEmpty else { return nil }
        let element = elements.removeFirst()
        count -= 1
        if !elements.isEmpty {
            waiting[share] = elements
            turns.append(share)
        }
        return element
    }

    private func length(of share: Share) -> Int { waiting[share]?.count ?? 0 }

    private mutating func append(_ element: Element, of share: Share) {
        if waiting[share] == nil { turns.append(share) }
        waiting[share, default: []].append(element)
        count += 1
    }
}
