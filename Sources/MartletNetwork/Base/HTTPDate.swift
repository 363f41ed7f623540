import Glibc

/// Creates the value of the `date` field (RFC 9110, section 6.6.1). The text is formatted at most once a second.
struct HTTPDate {
    private var second: time_t = -1
    private var text = ""

    mutating func now() -> String {
        let current = time(nil)
        if second != current {
            second = current
            text = Self.format(current)
        }
        return text
    }

    /// Formats a time as an IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func format(_ second: time_t) -> String {
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        var second = second
        var parts = tm()
        gmtime_r(&second, &parts)
        let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(twoDigits).joined(separator: ":")
        let month = months[Int(parts.tm_mon)]
        return "\(days[Int(parts.tm_wday)]), \(twoDigits(parts.tm_mday)) \(month) \(1900 + parts.tm_year) \(time) GMT"
    }

    private static func twoDigits(_ number: Int32) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
