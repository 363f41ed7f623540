import Synchronization

/// Numbers the client's connections of this process, so that answers can be told apart by them.
enum ConnectionNumber {
    private static let last = Atomic<Int>(0)

    static func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
