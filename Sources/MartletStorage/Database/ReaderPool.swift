import MartletCore

/// A few readers; each query goes to the one with the least to do of those that suit it.
///
/// Some read through a mapping of the file, which is fastest for thousands of rows. But SQLite lets go of a mapping whenever
/// something was written since the last query, and so does everybody's next page fault again: those that find a few rows
/// between writes read without one, and wait for no long query.
struct ReaderPool: Sendable {
    /// How much a query reads.
    enum Extent {
        /// A few rows, between two writes: what every request and every send asks for.
        case few
        case some
        /// Perhaps thousands of rows.
        case many
    }

    private let plain: [Reader]
    private let mapped: [Reader]

    /// - Parameter count: Of each kind; at least one.
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

    /// The first of those that have the least to do.
    private static func leastBusy(of readers: [Reader]) -> Reader {
        var best = readers[0]
        for reader in readers.dropFirst() where reader.waiting < best.waiting { best = reader }
        return best
    }
}
