import MartletCore
import MartletModel
import MartletPostgres

/// The ports that are not built on PostgreSQL yet. Each of them fails in a way that the suite recognizes, so that the
/// requirements that need none of them are checked. A port that is built goes from here.
enum NotBuilt {
    static let error = StorageError(.unavailable, "This port is not built on PostgreSQL yet.")
}
