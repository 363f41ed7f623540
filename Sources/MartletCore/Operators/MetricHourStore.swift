public import MartletModel

/// Keeps one row of figures for each hour, so that a restart does not empty the console's charts.
public protocol MetricHourStore: Sendable {
    /// Stores the figures of an hour, a JSON object, in place of earlier ones.
    func putHour(_ hour: Timestamp, figures: String) async throws(StorageError)

    /// Returns the hours from a time on, in order.
    func hours(since timestamp: Timestamp) async throws(StorageError) -> [(Timestamp, String)]
}
