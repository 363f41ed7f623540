import MartletModel

/// Parses the header `ServiceBusNotification-ScheduleTime` in every format that the hub's clients write
/// (NotificationHubs.md, section 7): with or without a fraction, with or without a zone (no zone means UTC), and with
/// the apostrophes that the Python sample puts around the `T`.
enum ScheduleTime {
    static func timestamp(_ text: String) throws(HubAPIError) -> Timestamp {
        guard let timestamp = Timestamp(iso8601: plain(text)) else {
            throw .badRequest(
                "ServiceBusNotification-ScheduleTime must be a time such as 2026-11-21T09:22:56 in UTC, or one with a zone"
            )
        }
        return timestamp
    }

    private static func plain(_ text: String) -> String {
        let parts = text.split(separator: "'T'", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? "\(parts[0])T\(parts[1])" : text
    }
}
