/// The limit of one call that reads an audience: the call ends after a number of searches for members, at the end of
/// the channel that the last search was in. So the work is bounded even if almost nothing matches.
///
/// The results of cursors for channels up to the horizon are correct; later channels are left for the next call.
final class ReadingHorizon {
    /// The last channel that is read.
    private(set) var channel: Int64 = .max
    private var seeksLeft: Int

    /// Whether the limit is reached, so that members after `channel` are left unread.
    var isReached: Bool { channel != .max }

    init(seeks: Int) {
        seeksLeft = seeks
    }

    /// Whether a member at or after a position may be searched for. Positions are never before the last one found.
    func reaches(_ position: AudiencePosition) -> Bool {
        guard seeksLeft <= 0 else {
            seeksLeft -= 1
            return true
        }
        if !isReached { channel = position.channel }
        return position.channel <= channel
    }
}
