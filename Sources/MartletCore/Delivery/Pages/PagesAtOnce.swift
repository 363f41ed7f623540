import MartletModel

/// Limits how many pages of a turn are in progress at the same time. The limit is the number of pages that can be sent
/// in half the request timeout, estimated from earlier pages. If a service is slow, requests of additional pages would
/// time out, and all of their pushes would have to be retried.
struct PagesAtOnce {
    /// The limit while the time per page is unknown.
    private static let unknown = 4

    /// The maximum number of pages, used if the service is fast.
    let most: Int
    /// The request timeout: how long a request may wait for its answer.
    let requestTimeout: Duration
    /// When the first page of the turn began.
    let start: Timestamp
    /// The time per page in the previous turn; nil if there was no previous turn.
    let before: Duration?

    /// Returns the average time from the end of one page to the end of the next.
    /// - Parameter ended: The number of finished pages of the turn.
    func pageTime(ended: Int, at now: Timestamp) -> Duration? {
        ended > 0 ? max((now - start) / ended, .milliseconds(1)) : before
    }

    func limit(ended: Int, at now: Timestamp) -> Int {
        guard let pageTime = pageTime(ended: ended, at: now) else { return min(Self.unknown, most) }
        return min(max(Int(requestTimeout / 2 / pageTime), 1), most)
    }
}
