/// What became of a notification on a device, in one word.
public enum TraceVerdict: String, Hashable, Sendable, CaseIterable {
    /// The push service took it.
    case delivered
    /// It failed and is to be tried again.
    case retrying
    /// Its page has not been read yet, or is under way.
    case pending
    /// It waits for its time.
    case scheduled
    /// The push service, or the hub, refused it for good.
    case refused
    /// It was tried until it expired, or expired before its turn.
    case expired
    /// It was not sent: nothing could be sent, or nothing that the device could take.
    case suppressed
    /// When it was to be tried again, the registration was not in the audience any more.
    case left
    /// The registration was not in the audience.
    case excluded
    /// It was for another platform, or for another kind of registration.
    case notAddressed
    /// The registration had expired.
    case lapsed
    /// The device got another handle after the notification was accepted and before its page was read, and was in none.
    case missed
    /// The registration was made after it was accepted, or after the page was read that it would have been in.
    case registeredLater
    /// The registration was removed before its page was read.
    case removedBefore
    /// It was withdrawn.
    case canceled
    /// The device is none that is known.
    case unknownDevice
    /// What was then is not kept any more.
    case unknown

    /// The lower, the more it tells of a device for which several are true.
    var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
