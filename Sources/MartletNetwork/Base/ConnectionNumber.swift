import Synchronization

/// Assigns numbers to the client connections of this process, to identify the connection on which an answer was
/// received.
enum ConnectionNumber {
    private static let last = Atomic<Int>(0)

    static func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
