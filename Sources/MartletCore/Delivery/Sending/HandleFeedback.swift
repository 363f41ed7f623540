/// The feedback of a push service about the handles of a page.
struct HandleFeedback {
    /// Handles that the service has reported as changed, with their new handles.
    var replaced: [ChannelFeedback] = []
    /// Devices that the service throttled.
    var throttled: [ChannelID] = []
    /// Suspected stale devices that were reached, and are therefore no longer suspected.
    var trusted: Set<ChannelID> = []

    mutating func merge(_ other: HandleFeedback) {
        replaced += other.replaced
        throttled += other.throttled
        trusted.formUnion(other.trusted)
    }
}
