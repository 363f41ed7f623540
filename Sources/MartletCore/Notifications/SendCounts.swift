/// The number of pushes that have succeeded and failed. Pushes that have not ended are not counted.
public struct SendCounts: Hashable, Sendable {
    public var succeeded: Int
    public var failed: Int

    public init(succeeded: Int = 0, failed: Int = 0) {
        self.succeeded = succeeded
        self.failed = failed
    }

    public init(_ counts: [OutcomeName: Int]) {
        self.init()
        for (outcome, count) in counts {
            if outcome == .success { succeeded += count }
            if outcome.isFailure { failed += count }
        }
    }

    public var ended: Int { succeeded + failed }

    public static func + (left: SendCounts, right: SendCounts) -> SendCounts {
        SendCounts(succeeded: left.succeeded + right.succeeded, failed: left.failed + right.failed)
    }

    public static func - (left: SendCounts, right: SendCounts) -> SendCounts {
        SendCounts(succeeded: left.succeeded - right.succeeded, failed: left.failed - right.failed)
    }
}
