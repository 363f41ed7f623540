public import MartletModel

/// Stores the metrics of each hour in one row, so that a restart does not empty the console's charts.
public protocol MetricHourStore: Sendable {
    /// Stores the metrics of an hour, as a JSON object, in place of earlier metrics of the same hour.
    func putHour(_ hour: Timestamp, figures: String) async throws(StorageError)

    /// Returns the stored metrics of each hour from a time on, in the order of the hours.
    func hours(since timestamp: Timestamp) async throws(StorageError) -> [(Timestamp, String)]
}
