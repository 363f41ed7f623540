public import MartletModel

/// Stores one row of figures for each hour, so that a restart does not empty the console's charts.
public protocol MetricHourStore: Sendable {
    /// Stores the figures of an hour, as a JSON object, and replaces earlier figures of the hour.
    func putHour(_ hour: Timestamp, figures: String) async throws(StorageError)

    /// Returns the figures of each hour from a time on, in the order of the hours.
    func hours(since timestamp: Timestamp) async throws(StorageError) -> [(Timestamp, String)]
}
