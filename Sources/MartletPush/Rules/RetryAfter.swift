public import MartletHTTP
public import MartletModel

/// The time that a service asks a sender to wait, in either form of the field `retry-after` (RFC 9110, section 10.2.3).
public enum RetryAfter {
    /// The maximum wait. It equals the maximum lifetime of a notification. A longer wait is reduced to this maximum.
    static let limit: Duration = .seconds(28 * 86_400)

    /// Returns the wait that a service asks for; nil if the field is missing or invalid.
    public static func wait(_ fields: HTTPFields, at now: Timestamp) -> Duration? {
        guard let text = fields["retry-after"] else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number that is too large for `Int64` is certainly longer than the limit, so the limit is returned.
            return min(.seconds(min(Int64(text) ?? .max, 1 << 32)), limit)
        }
        return HTTPDate.timestamp(text, at: now).map { min(max($0 - now, .zero), limit) }
    }
}
