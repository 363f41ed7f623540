/// What the answers of a page say of the handles that were sent to.
struct HandleFeedback {
    /// Handles that were replaced.
    var replaced: [ChannelFeedback] = []
    /// Devices that the service had too much for.
    var throttled: [ChannelID] = []
    /// Devices that were suspected to be stale and were reached.
    var trusted: Set<ChannelID> = []

    mutating func merge(_ other: HandleFeedback) {
        replaced += other.replaced
        throttled += other.throttled
        trusted.formUnion(other.trusted)
    }
}
