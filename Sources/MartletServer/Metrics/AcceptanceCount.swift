import Synchronization

/// Counts the notifications that were accepted since the start of the process.
final class AcceptanceCount: Sendable {
    private let immediate = Atomic<Int>(0)
    private let scheduled = Atomic<Int>(0)

    /// Counts a notification that is sent immediately.
    func addImmediate() { immediate.wrappingAdd(1, ordering: .relaxed) }

    /// Counts a notification that is scheduled for later.
    func addScheduled() { scheduled.wrappingAdd(1, ordering: .relaxed) }

    var samples: [(labels: [String], value: Double)] {
        [
            (["immediate"], Double(immediate.load(ordering: .relaxed))),
            (["scheduled"], Double(scheduled.load(ordering: .relaxed))),
        ]
    }
}
