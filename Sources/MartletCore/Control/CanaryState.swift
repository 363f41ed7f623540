public import MartletModel

/// The progress of a canary: its sample, and whether the rest of the audience waits.
public struct CanaryState: Hashable, Sendable {
    public var sample: Rollout.Sample
    /// How long the canary holds after its sample was sent, before it continues by itself; nil if it holds until it is
    /// resumed.
    public var wait: Duration?
    /// When all pages of the sample were sent; nil until then.
    public var heldAt: Timestamp?
    /// When sending to the rest of the audience was released; nil until then.
    public var releasedAt: Timestamp?

    public init(
        sample: Rollout.Sample, wait: Duration? = nil, heldAt: Timestamp? = nil, releasedAt: Timestamp? = nil
    ) {
        self.sample = sample
        self.wait = wait
        self.heldAt = heldAt
        self.releasedAt = releasedAt
    }

    /// When the canary continues by itself; nil if it holds until it is resumed, has continued already, or has not sent
    /// its sample yet.
    public var goesOnAt: Timestamp? {
        guard releasedAt == nil, let heldAt, let wait else { return nil }
        return heldAt + wait
    }
}

/// The decision about a canary when its wait is over.
public enum CanaryVerdict: Hashable, Sendable {
    /// The rest of the audience gets the notification.
    case release
    /// The canary halts, because too many pushes of its sample have failed.
    case halt
    /// The canary keeps holding, because too few pushes of its sample have a final result. Without enough results, the
    /// canary does not count as healthy.
    case waitForAnswers
}

extension SendStatus {
    /// Whether the sample was sent and the rest of the audience waits. False while the notification is paused or
    /// halted.
    public var isHolding: Bool {
        control == .running && waitingParts > 0 && canary?.heldAt != nil && canary?.releasedAt == nil
    }

    /// The number of members of the sample in each state; nil if the notification is no canary.
    public var sample: SendNumbers? {
        canary.map { _ in SendNumbers(deliveries.filter { $0.side == .sample }) }
    }

    /// The number of members in the sample; nil until it is known.
    public var sampleSize: Int? {
        if case .size(let size) = canary?.sample { return audience.map { min($0, size) } ?? size }
        return sample?.targeted
    }

    /// Returns the decision about the canary; nil if the canary does not hold, if its wait is not over at `now`, or if
    /// the size of its sample is not known.
    public func verdict(at now: Timestamp) -> CanaryVerdict? {
        guard isHolding, let goesOnAt = canary?.goesOnAt, goesOnAt <= now, let sample, let targeted = sample.targeted
        else { return nil }
        let open = sample.retrying + (sample.pending ?? 0)
        guard open * 2 <= targeted else { return .waitForAnswers }
        let recent = SendCounts(succeeded: sample.succeeded, failed: sample.failed) - countedFrom
        guard let halt = report.notification.rollout?.halt, recent.failed * 10_000 > recent.ended * halt.share else {
            return .release
        }
        return .halt
    }

    /// Returns whether the canary's wait is over at `now`, and the canary holds only because its sample has too few
    /// results.
    public func waitsForAnswers(at now: Timestamp) -> Bool { verdict(at: now) == .waitForAnswers }
}
