import MartletModel

/// Limits how many pages of a delivery are in progress at the same time in one of its turns (`DeliveryQueue`). The
/// limit is the number of pages that can be sent in half the request timeout, estimated from earlier pages. With more
/// pages, requests to a slow service would time out, and their pushes would have to be retried.
struct PagesAtOnce {
    /// The limit until the first page of the turn has ended, if the time per page is not known from the previous turn.
    private static let unknown = 4

    /// The highest possible limit. It applies if the service is fast.
    let most: Int
    /// The request timeout: how long a request may wait for its answer.
    let requestTimeout: Duration
    /// When the first page of the turn began.
    let start: Timestamp
    /// The average time per page in the previous turn of the delivery; nil if it is not known.
    let before: Duration?

    /// Returns the average time from the end of one page to the end of the next page in this turn. Before the first
    /// page has ended, returns the average of the previous turn, or nil if that is not known.
    /// - Parameter ended: The number of pages of the turn that have ended.
    func pageTime(ended: Int, at now: Timestamp) -> Duration? {
        ended > 0 ? max((now - start) / ended, .milliseconds(1)) : before
    }

    func limit(ended: Int, at now: Timestamp) -> Int {
        guard let pageTime = pageTime(ended: ended, at: now) else { return min(Self.unknown, most) }
        return min(max(Int(requestTimeout / 2 / pageTime), 1), most)
    }
}
