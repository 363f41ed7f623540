import MartletHTTP
public import MartletModel

/// The field `retry-after` in one of its two forms (RFC 9110, section 10.2.3).
public enum RetryAfterField: Hashable, Sendable {
    case seconds(Int)
    /// A date this number of seconds from now.
    case date(Int)

    /// Returns the value of the field as it is sent.
    public func value(at now: Timestamp) -> String {
        switch self {
        case .seconds(let seconds): String(seconds)
        case .date(let seconds): IMFDate.text(max(0, (now + .seconds(seconds)).seconds))
        }
    }
}
