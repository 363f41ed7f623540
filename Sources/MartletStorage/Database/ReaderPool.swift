import MartletCore

/// A few readers; each query goes to the one with the least to do.
struct ReaderPool: Sendable {
    private let first: Reader
    private let others: [Reader]

    init(count: Int, open: () throws(StorageError) -> sending Connection) throws(StorageError) {
        first = Reader(try open())
        var others: [Reader] = []
        for _ in 1..<max(1, count) { others.append(Reader(try open())) }
        self.others = others
    }

    func read<Value: Sendable>(
        _ query: @Sendable (Connection) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await leastBusy.read(query)
    }

    func close() async {
        for reader in [first] + others { await reader.close() }
    }

    private var leastBusy: Reader {
        var best = first
        for reader in others where reader.waiting < best.waiting { best = reader }
        return best
    }
}
