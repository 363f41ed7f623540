import Synchronization

/// Numbers the client connections of this process, to tell on which connection an answer came.
enum ConnectionNumber {
    private static let last = Atomic<Int>(0)

    static func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
