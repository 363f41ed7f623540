public import MartletClient

/// Hands a notification to the system exactly once, at the latest when the time for that is over: with what is known by
/// then. What `PushNotificationService` is made of.
public final class NotificationDelivery: Sendable {
    private struct State {
        /// What is shown where the time is over first; nil once something was handed over.
        var fallback: NotificationContent?
        var deliver: (@Sendable (NotificationContent) -> Void)?
        var work: Task<Void, Never>?
    }

    private let state: Locked<State>

    /// - Parameters:
    ///   - fallback: What is shown where the time is over first.
    ///   - deliver: Called once, on any thread.
    public init(fallback: NotificationContent, _ deliver: @escaping @Sendable (NotificationContent) -> Void) {
        state = Locked(State(fallback: fallback, deliver: deliver))
    }

    /// Begins to work out what is shown.
    /// - Parameter work: Cancelled where the time is over first; nil stands for the fallback.
    public func begin(_ work: @escaping @Sendable () async -> NotificationContent?) {
        let task = Task {
            let content = await work()
            finish(content)
        }
        state.withLock { if $0.deliver != nil { $0.work = task } }
    }

    /// The time is over. Returns when the notification was handed over.
    public func expire() {
        finish(nil)
    }

    private func finish(_ content: NotificationContent?) {
        let (state, work) = state.withLock { state in
            defer { state = State() }
            return (state, state.work)
        }
        if let fallback = state.fallback { state.deliver?(content ?? fallback) }
        work?.cancel()
    }
}
