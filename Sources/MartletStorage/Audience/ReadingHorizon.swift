/// The limit of one call that reads an audience: the call ends after a number of searches for members, at the end of
/// the channel where the next search would begin. So the work is bounded even if almost nothing matches.
///
/// The results of cursors for channels up to the horizon are correct; later channels are left for the next call.
final class ReadingHorizon {
    /// The last channel that is read.
    private(set) var channel: Int64 = .max
    private var seeksLeft: Int

    /// True if the limit is reached, so that members after `channel` are left unread.
    var isReached: Bool { channel != .max }

    init(seeks: Int) {
        seeksLeft = seeks
    }

    /// Counts a search, and returns whether a member at or after a position may be searched for. Positions are never
    /// before the last member found.
    func reaches(_ position: AudiencePosition) -> Bool {
        guard seeksLeft <= 0 else {
            seeksLeft -= 1
            return true
        }
        if !isReached { channel = position.channel }
        return position.channel <= channel
    }
}
