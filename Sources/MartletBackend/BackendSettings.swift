public import MartletCore
public import MartletHTTP

/// The operator's settings of the app backend.
public struct BackendSettings: Sendable {
    /// How long a session lasts after its log-in.
    public var sessionLifetime: Duration
    /// Whether users see their own messages on their devices. If so, their devices get the tag `from:NAME`, and each
    /// message is also sent to that tag.
    public var showsSenders: Bool
    /// The policy that decides who may send to whom.
    public var policy: any SendPolicy
    public var payloads: PayloadSettings
    /// The maximum rate of the requests of one user.
    public var requestRate: RequestRate
    /// The origin that clients use, if it differs from the origin in their requests.
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
