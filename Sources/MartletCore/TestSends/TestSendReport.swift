public import MartletModel

/// The results of a test send, one for each device.
public struct TestSendReport: Sendable {
    public struct Result: Sendable {
        public var platform: PlatformID
        public var handle: PushHandle
        /// The id of the registration; nil if the handle belongs to no registration.
        public var registration: String?
        public var outcome: OutcomeName
        /// The reason in the push service's own words; usually empty for a success.
        public var reason: String

        public var isSuccess: Bool { outcome == .success }

        /// The outcome as a sentence (NotificationHubs.md, section 6.5).
        public var text: String {
            switch outcome {
            case .success:
                "The Notification was successfully sent to the Push Notification System"
                    + (reason.isEmpty ? "" : " (\(reason))")
            case .badChannel, .expiredChannel, .wrongToken:
                "The Push Notification System handle for the registration is invalid"
            case .invalidCredentials: "The Token obtained from the Token Provider is wrong"
            default: reason.isEmpty ? outcome.rawValue : "\(outcome.rawValue): \(reason)"
            }
        }
    }

    public var results: [Result]
    public var successes: Int { results.count { $0.isSuccess } }
    public var failures: Int { results.count - successes }

    public init(results: [Result]) {
        self.results = results
    }
}

/// The reasons why a test send was refused.
public enum TestSendError: Error, Sendable {
    /// The hub has reached its limit of test sends for this minute.
    case tooMany(retryAfter: Duration)
    /// The test send was refused for the same reason for which `NotificationIntake` would refuse the notification.
    case refused(NotificationIntakeError)
}
