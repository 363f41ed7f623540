/// Limits the work of one call that reads an audience. The call may search for members a given number of times. The
/// channel at which the next search would begin then becomes the last channel that the call reads. So the work is
/// bounded even if almost no registration matches.
///
/// Cursors find all members up to and including this last channel. Later channels are left for the next call.
final class ReadingHorizon {
    /// The last channel that is read; the highest possible number until the limit is reached.
    private(set) var channel: Int64 = .max
    private var seeksLeft: Int

    /// True if the limit is reached, so that members after `channel` are left unread.
    var isReached: Bool { channel != .max }

    init(seeks: Int) {
        seeksLeft = seeks
    }

    /// Counts one search, and returns true if a cursor may search for a member at or after a position. The position is
    /// never before the last member that the cursor found.
    func reaches(_ position: AudiencePosition) -> Bool {
        guard seeksLeft <= 0 else {
            seeksLeft -= 1
            return true
        }
        if !isReached { channel = position.channel }
        return position.channel <= channel
    }
}
