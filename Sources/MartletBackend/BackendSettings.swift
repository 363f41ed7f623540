public import MartletCore
public import MartletHTTP

/// What an operator may choose about the app backend.
public struct BackendSettings: Sendable {
    /// How long a session lasts after its log-in.
    public var sessionLifetime: Duration
    /// Whether users see on their own devices what they send: their devices get the tag `from:NAME`, and a message goes
    /// to that tag too.
    public var showsSenders: Bool
    /// Who may send to whom.
    public var policy: any SendPolicy
    public var payloads: PayloadSettings
    /// How fast a user may ask for anything.
    public var requestRate: RequestRate
    /// The origin that clients use, where it is not that which their requests name.
    public var publicOrigin: HTTPOrigin?

    public init(
        sessionLifetime: Duration = .seconds(30 * 86_400), showsSenders: Bool = false,
        policy: any SendPolicy = RolePolicy(), payloads: PayloadSettings = PayloadSettings(),
        requestRate: RequestRate = RequestRate(perSecond: 100)
    ) {
        self.requestRate = requestRate
        self.sessionLifetime = sessionLifetime
        self.showsSenders = showsSenders
        self.policy = policy
        self.payloads = payloads
    }
}
