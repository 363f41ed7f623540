import MartletModel

/// The moment of `ServiceBusNotification-ScheduleTime` in every form that the hub's clients write (wire document,
/// section 7): with or without a fraction and a zone, where no zone means UTC, and with the apostrophes that one sample
/// leaves around its `T`.
enum ScheduleTime {
    /// How far ahead a notification may be scheduled: five years. The original hub takes seven days.
    static let limit = Duration.seconds(5 * 365 * 86_400)

    /// The moment, or nil where it has come already: then the send is for now.
    static func moment(_ text: String, now: Timestamp) throws(HubAPIError) -> Timestamp? {
        guard let moment = Timestamp(iso8601: plain(text)) else {
            throw .badRequest(
                "ServiceBusNotification-ScheduleTime must be a time such as 2026-11-21T09:22:56 in UTC, or one with a zone"
            )
        }
        guard moment <= now + limit else {
            throw .badRequest("ServiceBusNotification-ScheduleTime may be at most five years (1825 days) ahead")
        }
        return moment > now ? moment : nil
    }

    private static func plain(_ text: String) -> String {
        let parts = text.split(separator: "'T'", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? "\(parts[0])T\(parts[1])" : text
    }
}
