public import MartletClient

/// Passes a notification to the system exactly once: with the computed content, or with the fallback if `expire` is
/// called first. `PushNotificationService` is based on this type.
public final class NotificationDelivery: Sendable {
    private struct State {
        /// The content that is shown if the time limit ends first; nil once a notification was passed to the system.
        var fallback: NotificationContent?
        var deliver: (@Sendable (NotificationContent) -> Void)?
        var work: Task<Void, Never>?
    }

    private let state: Locked<State>

    /// Creates a delivery. The system's time limit is not known here: the owner calls `expire` when it ends.
    /// - Parameters:
    ///   - fallback: The content that is shown if the time limit ends first.
    ///   - deliver: Called once, on any thread.
    public init(fallback: NotificationContent, _ deliver: @escaping @Sendable (NotificationContent) -> Void) {
        state = Locked(State(fallback: fallback, deliver: deliver))
    }

    /// Begins to compute the content to show.
    /// - Parameter work: Computes the content. It is cancelled if the time limit ends first. If it returns nil, the
    ///   fallback is shown.
    public func begin(_ work: @escaping @Sendable () async -> NotificationContent?) {
        let task = Task {
            let content = await work()
            finish(content)
        }
        state.withLock { if $0.deliver != nil { $0.work = task } }
    }

    /// Ends the time limit: passes the fallback to the system before this call returns, unless a notification is being
    /// passed or has been passed already.
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
