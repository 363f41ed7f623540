/// Whether a connection is still worth having, though it lives: push services are known to keep one that has fallen out
/// of favour open, and to answer some of its requests and never the others.
///
/// Each request that stays without an answer counts; many answers make up for one. Once a credential was refused on the
/// connection, a single one is enough.
struct HTTP2ConnectionHealth: Equatable {
    /// So many unanswered requests are too many.
    static let limit = 3
    /// How many answers make up for one that stayed away.
    static let redemption = 1000
    /// A request that was sent less long ago than this when its time was up says nothing of the connection.
    static let patience = Duration.seconds(5)

    private var unanswered = 0
    private var answers = 0
    private var hasRefusedCredential = false

    /// Whether the connection is to be replaced.
    var isBad: Bool { unanswered >= (hasRefusedCredential ? 1 : Self.limit) }

    mutating func answered(_ count: Int) {
        guard unanswered > 0 else { return }
        answers += count
        unanswered = max(0, unanswered - answers / Self.redemption)
        answers %= Self.redemption
    }

    /// - Parameter age: How long ago the request was sent.
    mutating func timedOut(after age: Duration) {
        if age >= Self.patience { unanswered += 1 }
    }

    /// - Parameter status: Of an answer that is more than a plain success.
    mutating func answered(with status: Int) {
        if status == 401 || status == 403 { hasRefusedCredential = true }
    }
}
