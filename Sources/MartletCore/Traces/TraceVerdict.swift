/// The result of a notification for a registration or a device, in one word.
public enum TraceVerdict: String, Hashable, Sendable, CaseIterable {
    /// The push service accepted the push.
    case delivered
    /// The push has failed and will be tried again.
    case retrying
    /// The page of the device has not been read yet, or is in progress.
    case pending
    /// The notification is scheduled for later.
    case scheduled
    /// The push service refused the push permanently.
    case refused
    /// The push was tried until the notification expired, or the notification expired before the first attempt.
    case expired
    /// Martlet did not send the push, or did not try it again, on purpose. Or the push could not be sent, for example
    /// because there was no suitable message for the device, or no credential.
    case suppressed
    /// When the push was due to be tried again, the registration was no longer in the audience.
    case left
    /// The tag expression did not match the registration, or a direct send did not list its handle.
    case excluded
    /// The notification was for another platform or another kind of registration. Or it was a resend, and the device
    /// had no dead letter.
    case notAddressed
    /// The registration had expired before its page was read.
    case lapsed
    /// The device got another handle after the notification began and before its page was read, and was therefore in no
    /// page.
    case missed
    /// The registration was created after the notification began, or after the page that would have contained it was
    /// read.
    case registeredLater
    /// The registration was removed before its page was read.
    case removedBefore
    /// The notification was canceled before the push succeeded.
    case canceled
    /// The device is not known.
    case unknownDevice
    /// The records from that time are no longer kept.
    case unknown

    /// The rank of the verdict. If a device has several verdicts, the one with the lowest rank is shown, because it is
    /// the most informative.
    var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
