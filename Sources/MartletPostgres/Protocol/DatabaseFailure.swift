import MartletCore

/// The reason why statements did not run, or why it is not known whether they ran.
enum DatabaseFailure: Error, Equatable {
    /// The server refused a statement. Nothing of its transaction is stored.
    case refused(SQLState)
    /// The connection broke, or could not be made. The text says what to do.
    case lost(String)
    /// The server did not answer in time.
    case late
    /// The server's answer has an unexpected form.
    case corrupt(String)
    case closed

    /// True if another connection may succeed with the same statements.
    var isOfConnection: Bool {
        switch self {
        case .refused(let state): state.endsConnection
        case .lost, .late: true
        case .corrupt, .closed: false
        }
    }

    /// True if a group may have failed because of one of its writes.
    var isAboutValues: Bool {
        if case .refused(let state) = self { state.isAboutValues } else { false }
    }

    /// The error that the storage ports report for this failure.
    var storageError: StorageError {
        switch self {
        case .refused(let state): state.storageError
        case .lost(let sentence): StorageError(.unavailable, sentence)
        case .late:
            StorageError(
                .unavailable,
                "The database did not answer in time. If this goes on, look for long transactions, a full disk or a "
                    + "missing standby.")
        case .corrupt(let sentence): StorageError(.corrupt, sentence)
        case .closed: StorageError(.closed, "The storage has been closed.")
        }
    }
}

/// The code with which a server refuses a statement (PostgreSQL, appendix A). The server's message is not kept, because
/// the message may quote values.
struct SQLState: Hashable, Sendable {
    let code: String

    init(_ code: String) {
        self.code = code
    }

    /// A division by zero. Only the statements that check whether read rows are unchanged cause it, and those that
    /// refuse a shard that moves to another cluster.
    static let stale = SQLState("22012")
    static let uniqueViolation = SQLState("23505")
    static let lockNotAvailable = SQLState("55P03")
    static let queryCanceled = SQLState("57014")
    static let deadlock = SQLState("40P01")
    static let serializationFailure = SQLState("40001")
    static let readOnly = SQLState("25006")
    static let tooManyConnections = SQLState("53300")

    /// True if the same transaction may succeed when it is run again.
    var isTransient: Bool {
        self == .deadlock || self == .serializationFailure || self == .uniqueViolation
    }

    /// True if the refusal may be about one value among many, so that a transaction without this value may succeed. The
    /// classes of such errors are invalid data, violated constraints and exceeded limits.
    var isAboutValues: Bool { self != .stale && ["22", "23", "54"].contains { code.hasPrefix($0) } }

    /// True if the schema, a table or a column is missing.
    var isAboutMissingTable: Bool { ["42P01", "42703", "3F000"].contains(code) }

    /// True if the connection can no longer be used, because the server shuts down or has become a standby.
    var endsConnection: Bool { code.hasPrefix("57P") || code.hasPrefix("08") || self == .readOnly }

    private static let hubMoves: StorageError = {
        var error = StorageError(
            .unavailable, "The hub is being moved to another cluster, and takes no writes for some seconds. Try again.")
        error.cause = .hubMoves
        return error
    }()

    var storageError: StorageError {
        switch code {
        case "53100":
            StorageError(
                .full, "The disk of the database is full. Make room there; until then no new work is accepted.")
        case "53200":
            StorageError(.full, "The database has no memory left. Give its machine more, or lower max_connections.")
        case "53300":
            StorageError(
                .unavailable, "The database has no connection left. Raise max_connections: a node needs six of them.")
        case Self.stale.code: Self.hubMoves
        case "25006":
            StorageError(
                .unavailable,
                "The database is a standby, or was made read-only. The primary is looked for at the next attempt.")
        case "57014", "55P03":
            StorageError(
                .unavailable,
                "The database did not finish a statement in time. If this goes on, look for long transactions and "
                    + "for a machine that is too small.")
        case "57P01", "57P02", "57P03":
            StorageError(.unavailable, "The database is shutting down or starting. It is tried again.")
        case "42501":
            StorageError(
                .unavailable,
                "The user of the database may not do this. Let the user own the schema and all that is in it.")
        default:
            StorageError(.unavailable, "The database refused a statement (SQLSTATE \(code)). Its own log says why.")
        }
    }
}
