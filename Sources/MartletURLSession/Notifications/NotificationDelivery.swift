public import MartletClient

/// Passes a notification to the system exactly once: with the computed content, or with the fallback if `expire` is
/// called first. `PushNotificationService` is based on this type.
public final class NotificationDelivery: Sendable {
    private struct State {
        /// The content that is shown if the time limit ends first; nil once a notification is passed to the system.
        var fallback: NotificationContent?
        var deliver: (@Sendable (NotificationContent) -> Void)?
        var work: Task<Void, Never>?
    }

    private let state: Locked<State>

    /// Creates a delivery. The system's time limit is not known here, so the owner must call `expire` when the time
    /// limit ends.
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

    /// Passes the fallback to the system before this call returns, because the time limit ends. Does nothing if a
    /// notification is being passed to the system or has been passed already.
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
