/// The result of fetching a notification's content.
public enum Fetched<Value: Sendable>: Sendable {
    /// The content was fetched.
    case content(Value)
    /// No user is logged in, or the log-in has ended: show this prompt in place of the content, and fetch again after
    /// log-in.
    case logInNeeded(LogInPrompt)
}

extension Fetched: Equatable where Value: Equatable {}
extension Fetched: Hashable where Value: Hashable {}

/// The prompt to show for a notification whose content cannot be fetched because no user is logged in.
public struct LogInPrompt: Hashable, Sendable {
    /// The sender's text for this case; nil if there is none, so that the app uses a text of its own, such as "You have
    /// a new notification. Open the app and log in to see it."
    public let message: String?

    /// Creates a prompt.
    /// - Parameter message: The sender's text for this case; nil if there is none.
    public init(message: String?) {
        self.message = message
    }
}
