import MartletCore

/// A few readers; each query goes to the one with the least to do. One of them takes no long queries, so that a short
/// one waits for none.
struct ReaderPool: Sendable {
    private let first: Reader
    private let others: [Reader]

    init(count: Int, open: () throws(StorageError) -> sending Connection) throws(StorageError) {
        first = Reader(try open())
        var others: [Reader] = []
        for _ in 1..<max(1, count) { others.append(Reader(try open())) }
        self.others = others
    }

    /// - Parameter isLong: Whether the query may read thousands of rows.
    func read<Value: Sendable>(
        isLong: Bool = false, _ query: @Sendable (Connection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await leastBusy(isLong: isLong).read(query)
    }

    func close() async {
        for reader in [first] + others { await reader.close() }
    }

    private func leastBusy(isLong: Bool) -> Reader {
        var best = isLong ? others.first ?? first : first
        for reader in others where reader.waiting < best.waiting { best = reader }
        return best
    }
}
