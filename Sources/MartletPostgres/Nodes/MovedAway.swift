import MartletCore

/// The mark of a database whose data was moved to a data directory. No node starts on such a database any more, because
/// the node would send scheduled and unfinished notifications again.
enum MovedAway {
    static let stored = Statement.rare([], "SELECT moved_to FROM namespace")
    static let store = Statement.rare([.text], "UPDATE namespace SET moved_to = $1")

    /// Returns the error for an attempt to use such a database.
    /// - Parameter place: The place that the data was moved to.
    static func refusal(_ place: String, _ schema: String) -> StorageError {
        StorageError(
            .unavailable,
            "The data of this database was moved to \(place): serve that. If that directory has a file unfinished-move, the "
                + "move was not completed. Only if the move was not completed, or if you give up what was moved, run in the "
                + "database: UPDATE \"\(schema)\".namespace SET moved_to = NULL.")
    }
}
