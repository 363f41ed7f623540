public import MartletHTTP
public import MartletModel

/// How long a service asks to be left alone, in either form of the field `retry-after` (RFC 9110, section 10.2.3).
public enum RetryAfter {
    /// As long as a message is kept at most: what asks for more is not believed.
    static let limit: Duration = .seconds(28 * 86_400)

    /// nil where the field is missing or cannot be read.
    public static func wait(_ fields: HTTPFields, at now: Timestamp) -> Duration? {
        guard let text = fields["retry-after"] else { return nil }
        if !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // More digits than fit are a long time all the same.
            return min(.seconds(min(Int64(text) ?? .max, 1 << 32)), limit)
        }
        return HTTPDate.timestamp(text, at: now).map { min(max($0 - now, .zero), limit) }
    }
}
