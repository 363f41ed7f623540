/// What the answers of a page say about the handles that were sent to.
struct HandleFeedback {
    /// Handles that the service has replaced with new ones.
    var replaced: [ChannelFeedback] = []
    /// Devices that the service throttled.
    var throttled: [ChannelID] = []
    /// Suspected stale devices that were reached.
    var trusted: Set<ChannelID> = []

    mutating func merge(_ other: HandleFeedback) {
        replaced += other.replaced
        throttled += other.throttled
        trusted.formUnion(other.trusted)
    }
}
