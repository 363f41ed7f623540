/// A first-in, first-out queue. Adding an element and removing the first one take amortized constant time.
struct FIFO<Element: Sendable>: Sendable {
    /// The queue's elements; nil for an element that was removed.
    private var elements: [Element?] = []
    private var start = 0

    var count: Int { elements.count - start }
    var isEmpty: Bool { count == 0 }
    /// All elements, the oldest first.
    var all: [Element] { elements[start...].compactMap(\.self) }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func popFirst() -> Element? {
        guard start < elements.count else { return nil }
        defer {
            elements[start] = nil
            start += 1
            if start > 32, start * 2 > elements.count {
                elements.removeFirst(start)
                start = 0
            }
        }
        return elements[start]
    }

    /// Removes the elements that a condition selects.
    /// - Returns: The elements that were removed.
    mutating func remove(where isChosen: (Element) -> Bool) -> [Element] {
        let all = all
        elements = all.filter { !isChosen($0) }
        start = 0
        return all.filter(isChosen)
    }
}
