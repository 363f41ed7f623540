/// What came of fetching a notification's content.
public enum Fetched<Value: Sendable>: Sendable {
    /// The content.
    case content(Value)
    /// Nobody is logged in, or not any more: show this in the content's place, and fetch again after log-in.
    case logInNeeded(LogInPrompt)
}

extension Fetched: Equatable where Value: Equatable {}
extension Fetched: Hashable where Value: Hashable {}

/// What to show of a notification while its content cannot be fetched for want of a log-in.
public struct LogInPrompt: Hashable, Sendable {
    /// The sender's own words for this case; nil where there are none, so that the app uses words of its own, such as
    /// "You have a new notification. Open the app and log in to see it."
    public let message: String?

    /// - Parameter message: As the property.
    public init(message: String?) {
        self.message = message
    }
}
