import CMartletPQ
import Glibc
import MartletCore

/// A connection for copying whole tables (COPY), which is not possible in pipeline mode. Calls block until the server
/// answers, without a time limit, unless another thread breaks the connection (`ConnectionBreak`). All calls must be
/// made on one thread.
final class BulkConnection {
    /// The application name of the sessions. By this name, an examination of the database distinguishes a move from a
    /// session that was left open.
    static let applicationName = "martlet move"

    /// How long the server may take no data before the connection breaks. A server that writes a checkpoint may read
    /// nothing for a while, and `tcp_user_timeout` ends connections to such a server too.
    static let silence = Duration.seconds(120)

    let address: DatabaseAddress
    private let connection: OpaquePointer
    private let interruption: ConnectionBreak?
    private let warnings = Warnings()

    /// Connects to the server that accepts writes, among the servers of the address.
    /// - Parameters:
    ///   - settings: The settings for the session.
    ///   - interruption: Can break the connection from another thread.
    init(
        _ address: DatabaseAddress, _ settings: [(name: String, value: String)],
        breakable interruption: ConnectionBreak? = nil
    ) throws(DatabaseFailure) {
        self.address = address
        self.interruption = interruption
        var parameters = address.complete(breakingAfter: Self.silence)
        if address.value("connect_timeout") == nil { parameters.append(("connect_timeout", "20")) }
        let names = parameters.map { strdup($0.name) }
        let values = parameters.map { strdup($0.value) }
        defer { for text in names + values { free(text) } }
        guard
            let made = PQconnectdbParams(
                names.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 0)
        else { throw .lost("There is no memory left for a connection to the database.") }
        connection = made
        guard PQstatus(made) == CONNECTION_OK else {
            let message = PQerrorMessage(made).map { String(cString: $0) } ?? ""
            throw .lost(ConnectFailure(message).sentence(for: address))
        }
        if let interruption, !interruption.attach(to: PQsocket(made)) {
            throw .lost("The process has no file descriptor left for a connection to the database.")
        }
        warnings.listen(to: made)
        for (name, value) in settings {
            try run(Self.setting) {
                $0.add(name)
                $0.add(value)
            }
        }
    }

    deinit {
        interruption?.detach()
        PQfinish(connection)
    }

    private static let setting = Statement.rare([.text, .text], "SELECT set_config($1, $2, false)")

    // MARK: Statements

    /// True if the server sent a warning while the last statement of `run` ran. See `Connection.hasWarned`.
    var hasWarned: Bool { warnings.hasAny }

    /// Runs a statement.
    @discardableResult
    func run(
        _ statement: Statement, _ fill: (inout Parameters) -> Void = { _ in }
    ) throws(DatabaseFailure) -> Rows {
        warnings.begin()
        var parameters = Parameters()
        fill(&parameters)
        let result = parameters.withValues { values, lengths, formats in
            PQexecParams(
                connection, statement.sql, Int32(values.count), statement.types.map(\.rawValue), values, lengths,
                formats, 1)
        }
        return Rows(try accepted(result))
    }

    /// Runs a statement without parameters or rows.
    func run(_ sql: String) throws(DatabaseFailure) {
        try run(.rare([], sql))
    }

    private func accepted(
        _ result: OpaquePointer?, _ expected: ExecStatusType? = nil
    ) throws(DatabaseFailure) -> OpaquePointer {
        guard let result else { throw lost }
        let status = PQresultStatus(result)
        let isAccepted =
            expected.map { $0 == status } ?? (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        guard isAccepted else {
            let code = PQresultErrorField(result, martlet_PG_DIAG_SQLSTATE).map { String(cString: $0) }
            PQclear(result)
            guard let code, PQstatus(connection) == CONNECTION_OK else { throw lost }
            throw .refused(SQLState(code))
        }
        return result
    }

    private var lost: DatabaseFailure {
        .lost("The connection to \(address) broke. Begin again.")
    }

    // MARK: Copying in

    private static let signature = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0] + [UInt8](repeating: 0, count: 8)
    private static let trailer: [UInt8] = [0xFF, 0xFF]

    /// Begins to copy rows into a table. `put` sends the rows, and `endCopy` ends the copying.
    /// - Parameter target: The name of the table with the list of its columns, as a COPY statement needs them.
    func beginCopy(into target: String) throws(DatabaseFailure) {
        let result = PQexec(connection, "COPY \(target) FROM STDIN (FORMAT binary)")
        PQclear(try accepted(result, PGRES_COPY_IN))
        try put(Self.signature)
    }

    /// Sends rows in the binary format of COPY.
    func put(_ bytes: [UInt8]) throws(DatabaseFailure) {
        guard !bytes.isEmpty else { return }
        let isSent = bytes.withUnsafeBytes { buffer in
            PQputCopyData(
                connection, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count)) == 1
        }
        guard isSent else { throw lost }
    }

    func endCopy() throws(DatabaseFailure) {
        try put(Self.trailer)
        guard PQputCopyEnd(connection, nil) == 1 else { throw lost }
        PQclear(try accepted(PQgetResult(connection)))
        while let more = PQgetResult(connection) { PQclear(more) }
    }

    // MARK: Copying out

    /// Calls `each` with the rows of a query, one after another. A row is in the binary format of COPY, without the
    /// count of columns.
    func copy(
        _ query: String, _ each: (UnsafeRawBufferPointer) throws(StorageError) -> Void
    ) throws(StorageError) {
        do throws(DatabaseFailure) {
            PQclear(
                try accepted(PQexec(connection, "COPY (\(query)) TO STDOUT (FORMAT binary)"), PGRES_COPY_OUT))
        } catch {
            throw error.storageError
        }
        var isFirst = true
        while true {
            var data: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(connection, &data, 0)
            guard count > 0, let data else {
                guard count == -1 else { throw lost.storageError }
                break
            }
            defer { PQfreemem(data) }
            var bytes = UnsafeRawBufferPointer(start: data, count: Int(count))
            if isFirst { bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(Self.signature.count)) }
            isFirst = false
            guard bytes.count >= 2, bytes.bigEndian(at: 0) as Int16 >= 0 else { continue }
            try each(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(2)))
        }
        do throws(DatabaseFailure) {
            while let result = PQgetResult(connection) { PQclear(try accepted(result)) }
        } catch {
            throw error.storageError
        }
    }
}
