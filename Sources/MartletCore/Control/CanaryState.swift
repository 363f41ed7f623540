public import MartletModel

/// How far a canary is: its sample, and whether the rest of the audience waits.
public struct CanaryState: Hashable, Sendable {
    public var sample: Rollout.Sample
    /// How long after the sample the canary goes on by itself; nil if it waits until it is resumed.
    public var wait: Duration?
    /// When all pages of the sample were sent; nil until then.
    public var heldAt: Timestamp?
    /// When the rest was let go; nil until then.
    public var releasedAt: Timestamp?

    public init(
        sample: Rollout.Sample, wait: Duration? = nil, heldAt: Timestamp? = nil, releasedAt: Timestamp? = nil
    ) {
        self.sample = sample
        self.wait = wait
        self.heldAt = heldAt
        self.releasedAt = releasedAt
    }

    /// When the canary goes on by itself; nil if it does not, or if its sample is not sent yet.
    public var goesOnAt: Timestamp? {
        guard releasedAt == nil, let heldAt, let wait else { return nil }
        return heldAt + wait
    }
}

/// What becomes of a canary whose time to wait is over.
public enum CanaryVerdict: Hashable, Sendable {
    /// The rest of the audience gets the notification.
    case goOn
    /// Too many pushes of the sample have failed.
    case halt
    /// Too few pushes of the sample have ended: a canary that was not heard is not well.
    case waitForAnswers
}

extension SendStatus {
    /// Whether the sample was sent and the rest of the audience waits.
    public var isHolding: Bool {
        control == .running && waitingParts > 0 && canary?.heldAt != nil && canary?.releasedAt == nil
    }

    /// The numbers of the sample; nil if the notification is no canary.
    public var sample: SendNumbers? {
        canary.map { _ in SendNumbers(deliveries.filter { $0.side == .sample }) }
    }

    /// The size of the sample; nil until it is known.
    public var sampleSize: Int? {
        if case .size(let size) = canary?.sample { return audience.map { min($0, size) } ?? size }
        return sample?.targeted
    }

    /// The judgement of a canary at a time; nil if nothing is to be judged then.
    public func verdict(at now: Timestamp) -> CanaryVerdict? {
        guard isHolding, let goesOnAt = canary?.goesOnAt, goesOnAt <= now, let sample, let targeted = sample.targeted
        else { return nil }
        let open = sample.retrying + (sample.pending ?? 0)
        guard open * 2 <= targeted else { return .waitForAnswers }
        let recent = SendCounts(succeeded: sample.succeeded, failed: sample.failed) - countedFrom
        guard let halt = report.notification.rollout?.halt, recent.failed * 10_000 > recent.ended * halt.share else {
            return .goOn
        }
        return .halt
    }

    /// Whether a canary would go on by now if more pushes of its sample had ended.
    public func waitsForAnswers(at now: Timestamp) -> Bool { verdict(at: now) == .waitForAnswers }
}
