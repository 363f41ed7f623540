/// Decides whether an open connection should be replaced. APNs, for example, may leave requests unanswered on a
/// connection with many refusals, and keep the connection open (Docs/Specs/PushServices.md, section 1.11).
///
/// Counts the unanswered requests. Every `redemption` answers reduce the count by one. If a credential was refused on
/// the connection, a single unanswered request is enough to replace the connection.
struct HTTP2ConnectionHealth: Equatable {
    /// The number of unanswered requests at which the connection is replaced.
    static let limit = 3
    /// The number of answers that reduce the count of unanswered requests by one.
    static let redemption = 1000
    /// The minimum time after which a timed-out request is counted. A request that times out sooner is not counted.
    static let patience = Duration.seconds(5)

    private var unanswered = 0
    private var answers = 0
    private var hasRefusedCredential = false

    /// True if the connection should be replaced.
    var isBad: Bool { unanswered >= (hasRefusedCredential ? 1 : Self.limit) }

    mutating func answered(_ count: Int) {
        guard unanswered > 0 else { return }
        answers += count
        unanswered = max(0, unanswered - answers / Self.redemption)
        answers %= Self.redemption
    }

    /// Records that a request timed out.
    /// - Parameter age: The time since the request was sent.
    mutating func timedOut(after age: Duration) {
        if age >= Self.patience { unanswered += 1 }
    }

    /// Records a response, whose status may show that a credential was refused. Need not be called for successes.
    /// - Parameter status: The status of the response.
    mutating func answered(with status: Int) {
        if status == 401 || status == 403 { hasRefusedCredential = true }
    }
}
