public import MartletModel

/// The progress of a canary: its sample, and whether the rest of the audience waits.
public struct CanaryState: Hashable, Sendable {
    public var sample: Rollout.Sample
    /// How long after the sample the canary continues by itself; nil if it waits until it is resumed.
    public var wait: Duration?
    /// When all pages of the sample were sent; nil until then.
    public var heldAt: Timestamp?
    /// When the rest was released; nil until then.
    public var releasedAt: Timestamp?

    public init(
        sample: Rollout.Sample, wait: Duration? = nil, heldAt: Timestamp? = nil, releasedAt: Timestamp? = nil
    ) {
        self.sample = sample
        self.wait = wait
        self.heldAt = heldAt
        self.releasedAt = releasedAt
    }

    /// When the canary continues by itself; nil if it does not, or if its sample is not sent yet.
    public var goesOnAt: Timestamp? {
        guard releasedAt == nil, let heldAt, let wait else { return nil }
        return heldAt + wait
    }
}

/// The decision about a canary whose wait is over.
public enum CanaryVerdict: Hashable, Sendable {
    /// The rest is released: it gets the notification.
    case release
    /// Too many pushes of the sample have failed.
    case halt
    /// Too few pushes of the sample have a final result. A canary without answers does not count as healthy.
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

    /// The decision about a canary at a time; nil if there is nothing to decide then.
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

    /// Whether the wait of a canary is over, and it only needs more results of its sample.
    public func waitsForAnswers(at now: Timestamp) -> Bool { verdict(at: now) == .waitForAnswers }
}
