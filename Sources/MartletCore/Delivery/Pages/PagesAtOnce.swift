import MartletModel

/// Limits the number of pages of a turn that are in progress to what is sent in half the time that a request may wait,
/// estimated from the pages before. If a service is slow, the requests of further pages would time out, and all of
/// their pushes would have to be tried again.
struct PagesAtOnce {
    /// The limit while the time of a page is unknown.
    private static let unknown = 4

    /// The limit if the service is fast.
    let most: Int
    /// How long a request may wait for its answer.
    let patience: Duration
    /// When the first page of the turn was begun.
    let start: Timestamp
    /// The time of a page in the turn before; nil if there was none.
    let before: Duration?

    /// The average time from the end of one page to the end of the next.
    /// - Parameter ended: The number of pages of the turn that are done.
    func pageTime(ended: Int, at now: Timestamp) -> Duration? {
        ended > 0 ? max((now - start) / ended, .milliseconds(1)) : before
    }

    func limit(ended: Int, at now: Timestamp) -> Int {
        guard let pageTime = pageTime(ended: ended, at: now) else { return min(Self.unknown, most) }
        return min(max(Int(patience / 2 / pageTime), 1), most)
    }
}
