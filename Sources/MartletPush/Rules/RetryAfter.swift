import MartletHTTP
import MartletModel

/// How long a service asks to be left alone, in either form of the field `retry-after` (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// Longer than any message is kept: what asks for more is not believed.
    private static let limit: Duration = .seconds(86_400)

    /// nil where the field is missing or cannot be read.
    static func wait(_ fields: HTTPFields, at now: Timestamp) -> Duration? {
        guard let text = fields["retry-after"] else { return nil }
        if let seconds = Int64(text), seconds >= 0 { return min(.seconds(min(seconds, 1 << 32)), limit) }
        return date(text).map { min(max($0 - now, .zero), limit) }
    }

    /// The form `Sun, 06 Nov 1994 08:49:37 GMT`, the only one that may be sent.
    private static func date(_ text: String) -> Timestamp? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[0].hasSuffix(","), parts[5] == "GMT", parts[1].utf8.count == 2,
            let month = months.firstIndex(where: { $0 == parts[2] })
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(iso8601: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }
}
