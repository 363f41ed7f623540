import MartletModel

/// How many pages of a turn may be in progress: as many as are sent in half the time that a request may wait, by what those
/// before have taken. Behind a slow service the turn of further ones would not come in time, and all of their pushes
/// would have to be tried again.
struct PagesAtOnce {
    /// Before it is known how long a page takes.
    private static let unknown = 4

    /// Where nothing is slow.
    let most: Int
    /// How long a request may wait.
    let patience: Duration
    /// When the first page of the turn was begun.
    let start: Timestamp
    /// What a page of the turn before has taken; nil where there was none.
    let before: Duration?

    /// What a page takes, from one to the next.
    /// - Parameter ended: The pages of the turn that are done.
    func pageTime(ended: Int, at now: Timestamp) -> Duration? {
        ended > 0 ? max((now - start) / ended, .milliseconds(1)) : before
    }

    func limit(ended: Int, at now: Timestamp) -> Int {
        guard let pageTime = pageTime(ended: ended, at: now) else { return min(Self.unknown, most) }
        return min(max(Int(patience / 2 / pageTime), 1), most)
    }
}
