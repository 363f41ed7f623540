import Synchronization

/// How many notifications were accepted since the start.
final class AcceptanceCount: Sendable {
    private let immediate = Atomic<Int>(0)
    private let scheduled = Atomic<Int>(0)

    /// One that begins at once.
    func addImmediate() { immediate.wrappingAdd(1, ordering: .relaxed) }

    /// One that waits for its time.
    func addScheduled() { scheduled.wrappingAdd(1, ordering: .relaxed) }

    var samples: [(labels: [String], value: Double)] {
        [
            (["immediate"], Double(immediate.load(ordering: .relaxed))),
            (["scheduled"], Double(scheduled.load(ordering: .relaxed))),
        ]
    }
}
