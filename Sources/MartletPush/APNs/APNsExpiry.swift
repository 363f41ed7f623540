import MartletModel

/// Parses the hub's own expiry field in all forms that its clients are known to use (NotificationHubs.md, section 6.2).
enum APNsExpiry {
    /// Parses the text `0`, a Unix time, a time in ISO 8601, or `MM/dd/yyyy HH:mm:ss`, and returns Unix seconds. Times
    /// without a zone are UTC.
    static func seconds(_ text: String) -> Int64? {
        if let seconds = Int64(text) { return seconds >= 0 ? seconds : nil }
        return (Timestamp(iso8601: text) ?? american(text))?.seconds
    }

    /// Returns Unix seconds as `seconds(_:)` does, but corrects the times of the Java client of Azure Notification
    /// Hubs. That client writes the hour as 01 to 12 without AM or PM. If such a time has passed, twelve hours are
    /// added.
    /// - Parameter now: The current time, which is taken as the time when the client wrote the text.
    static func seconds(_ text: String, at now: Timestamp) -> Int64? {
        guard let seconds = seconds(text) else { return nil }
        let halfDay: Int64 = 12 * 3600
        let isAmbiguous = american(text) != nil && seconds % 86_400 < halfDay + 3600
        return isAmbiguous && seconds <= now.seconds ? seconds + halfDay : seconds
    }

    private static func american(_ text: String) -> Timestamp? {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let date = parts[0].split(separator: "/", omittingEmptySubsequences: false)
        guard date.count == 3 else { return nil }
        return Timestamp(iso8601: "\(date[2])-\(date[0])-\(date[1])T\(parts[1])Z")
    }
}
