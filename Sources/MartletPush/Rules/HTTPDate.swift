import MartletModel

/// Parses a timestamp in an HTTP field, in any of the three formats that recipients must accept (RFC 9110, section
/// 5.6.7).
enum HTTPDate {
    /// Parses a date.
    /// - Parameter now: The current time. It decides the century of a year that is written with two digits.
    /// - Returns: The timestamp; nil if the text has none of the three formats.
    static func timestamp(_ text: String, at now: Timestamp) -> Timestamp? {
        guard text.utf8.count <= 64 else { return nil }
        let parts = text.split(separator: " ").map(String.init)
        switch parts.count {
        // IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
        case 6 where parts[0].hasSuffix(",") && parts[5] == "GMT":
            return timestamp(year: parts[3], month: parts[2], day: parts[1], time: parts[4])
        // RFC 850: `Sunday, 06-Nov-94 08:49:37 GMT`.
        case 4 where parts[0].hasSuffix(",") && parts[3] == "GMT":
            let day = parts[1].split(separator: "-").map(String.init)
            guard day.count == 3, let year = year(day[2], at: now) else { return nil }
            return timestamp(year: year, month: day[1], day: day[0], time: parts[2])
        // The format of asctime: `Sun Nov  6 08:49:37 1994`.
        case 5:
            let day = parts[2].utf8.count == 1 ? "0\(parts[2])" : parts[2]
            return timestamp(year: parts[4], month: parts[1], day: day, time: parts[3])
        default: return nil
        }
    }

    private static func timestamp(year: String, month: String, day: String, time: String) -> Timestamp? {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard let index = months.firstIndex(of: month), year.utf8.count == 4, day.utf8.count == 2,
            time.utf8.count == 8
        else { return nil }
        let number = index < 9 ? "0\(index + 1)" : "\(index + 1)"
        return Timestamp(iso8601: "\(year)-\(number)-\(day)T\(time)Z")
    }

    /// Returns the full year for two digits. A year that would be more than fifty years in the future belongs to the
    /// previous century.
    private static func year(_ digits: String, at now: Timestamp) -> String? {
        guard digits.utf8.count == 2, let short = Int(digits), let current = Int(now.iso8601.prefix(4)) else {
            return nil
        }
        let year = current - current % 100 + short
        return String(year > current + 50 ? year - 100 : year)
    }
}
