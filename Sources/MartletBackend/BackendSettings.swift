/// What an operator may choose about the app backend.
public struct BackendSettings: Sendable {
    /// How long a session lasts after its log-in.
    public var sessionLifetime: Duration
    /// Whether users see on their own devices what they send: their devices get the tag `from:NAME`, and a message goes
    /// to that tag too.
    public var showsSenders: Bool

    public init(sessionLifetime: Duration = .seconds(30 * 86_400), showsSenders: Bool = false) {
        self.sessionLifetime = sessionLifetime
        self.showsSenders = showsSenders
    }
}
