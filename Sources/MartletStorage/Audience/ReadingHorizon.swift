/// How far one call goes through an audience: until so many members were looked for, and then to the end of the channel
/// that the last of them was looked for in. So work is bounded also where next to nobody matches.
///
/// What cursors say of the channels up to the horizon is right; what comes after it is for the next call.
final class ReadingHorizon {
    /// The last channel that is read.
    private(set) var channel: Int64 = .max
    private var seeksLeft: Int

    /// Whether there is more after it than may be read.
    var isReached: Bool { channel != .max }

    init(seeks: Int) {
        seeksLeft = seeks
    }

    /// Whether a member may be looked for at or after a position. Positions are never before what was found already.
    func reaches(_ position: AudiencePosition) -> Bool {
        guard seeksLeft <= 0 else {
            seeksLeft -= 1
            return true
        }
        if !isReached { channel = position.channel }
        return position.channel <= channel
    }
}
