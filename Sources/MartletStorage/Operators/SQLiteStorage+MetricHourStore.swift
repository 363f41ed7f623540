public import MartletCore
public import MartletModel

extension SQLiteStorage: MetricHourStore {
    /// The maximum number of hours that are kept: five weeks.
    private static let hourLimit = 840

    public func putHour(_ hour: Timestamp, figures: String) async throws(StorageError) {
        try await takeIn { connection throws(StorageError) in
            try connection.run("INSERT OR REPLACE INTO metric_hours (at, figures) VALUES (?, ?)", hour, figures)
            try connection.run(
                "DELETE FROM metric_hours WHERE at <= (SELECT at FROM metric_hours ORDER BY at DESC LIMIT 1 OFFSET ?)",
                Self.hourLimit)
        }
    }

    public func hours(since timestamp: Timestamp) async throws(StorageError) -> [(Timestamp, String)] {
        try await readers.read { connection throws(StorageError) in
            try connection.all("SELECT at, figures FROM metric_hours WHERE at >= ? ORDER BY at", timestamp) { row in
                (row.timestamp(0), row.text(1))
            }
        }
    }
}
