/// What became of a notification for a device, in one word.
public enum TraceVerdict: String, Hashable, Sendable, CaseIterable {
    /// The push service accepted it.
    case delivered
    /// It has failed and will be tried again.
    case retrying
    /// Its page has not been read yet, or is in progress.
    case pending
    /// The notification is scheduled for later.
    case scheduled
    /// The push service, or the hub, refused it permanently.
    case refused
    /// It was tried until the notification expired, or the notification expired before the first attempt.
    case expired
    /// Nothing was sent: there was no message, or none that suits the device.
    case suppressed
    /// When it was due to be tried again, the registration was not in the audience any more.
    case left
    /// The registration was not in the audience.
    case excluded
    /// The notification was for another platform, or for another kind of registration.
    case notAddressed
    /// The registration had expired.
    case lapsed
    /// The device got another handle after the notification was accepted and before its page was read, and was in no
    /// page.
    case missed
    /// The registration was created after the notification was accepted, or after the page was read that it would have
    /// been in.
    case registeredLater
    /// The registration was removed before its page was read.
    case removedBefore
    /// The notification was canceled.
    case canceled
    /// The device is not known.
    case unknownDevice
    /// The records from that time are not kept any more.
    case unknown

    /// The rank among several verdicts for a device: the lowest is the most informative.
    var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
