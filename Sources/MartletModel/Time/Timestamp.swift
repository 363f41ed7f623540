/// A point in time in UTC, in whole milliseconds since 1970-01-01T00:00:00Z (without leap seconds).
public struct Timestamp: Hashable, Comparable, Sendable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    public init(seconds: Int64) {
        self.init(milliseconds: seconds * 1000)
    }

    /// The whole seconds since 1970, rounded down.
    public var seconds: Int64 {
        Int64((Double(milliseconds) / 1000).rounded(.down))
    }

    /// The end of the year 9999, which means "never expires" in the hub's protocol (NotificationHubs.md, section 4.4).
    public static let distantFuture = Timestamp(milliseconds: 253_402_300_799_999)

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }

    public static func + (timestamp: Timestamp, duration: Duration) -> Timestamp {
        Timestamp(milliseconds: timestamp.milliseconds + duration.wholeMilliseconds)
    }

    public static func - (later: Timestamp, earlier: Timestamp) -> Duration {
        .milliseconds(later.milliseconds - earlier.milliseconds)
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded towards zero.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
