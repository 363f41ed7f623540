/// Wakes the scheduler, from any thread and without waiting, when a notification or a part of one may begin earlier
/// than the scheduler expects.
public struct ScheduleAlarm: Sendable {
    let rings: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    public init() {
        (rings, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    public func ring() {
        continuation.yield()
    }
}
