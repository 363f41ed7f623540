import MartletCore

/// A small number of readers. Each query goes to the least busy of the suitable readers.
///
/// Half of the readers use a memory mapping of the file, which is fastest for thousands of rows. But SQLite drops the
/// mapping when something was written since the last query; then the first access to each page costs a page fault
/// again. Therefore queries for a few rows use the other readers. On those readers, a query for a few rows also does
/// not wait for a query of the extent `many`.
struct ReaderPool: Sendable {
    /// The number of rows that a query reads. It decides which readers are suitable.
    enum Extent {
        /// A few rows. Every request and every send makes such queries, mostly with writes in between.
        case few
        /// An unknown number of rows, mostly a few. Every reader is suitable.
        case some
        /// Possibly thousands of rows.
        case many
    }

    private let plain: [Reader]
    private let mapped: [Reader]

    /// Creates the readers.
    /// - Parameter count: The number of readers of each kind; at least one.
    init(
        ofEach count: Int, open: (_ isMapped: Bool) throws(StorageError) -> sending Connection
    ) throws(StorageError) {
        func readers(isMapped: Bool) throws(StorageError) -> [Reader] {
            var readers: [Reader] = []
            for _ in 0..<max(1, count) { readers.append(Reader(try open(isMapped))) }
            return readers
        }
        plain = try readers(isMapped: false)
        mapped = try readers(isMapped: true)
    }

    func read<Value: Sendable>(
        _ extent: Extent = .some, _ query: @Sendable (Connection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await leastBusy(extent).read(query)
    }

    func close() async {
        for reader in plain + mapped { await reader.close() }
    }

    private func leastBusy(_ extent: Extent) -> Reader {
        switch extent {
        case .few: return Self.leastBusy(of: plain)
        case .many: return Self.leastBusy(of: mapped)
        case .some:
            let (plain, mapped) = (Self.leastBusy(of: plain), Self.leastBusy(of: mapped))
            return mapped.waiting < plain.waiting ? mapped : plain
        }
    }

    /// Returns the first of the least busy readers.
    private static func leastBusy(of readers: [Reader]) -> Reader {
        var best = readers[0]
        for reader in readers.dropFirst() where reader.waiting < best.waiting { best = reader }
        return best
    }
}
