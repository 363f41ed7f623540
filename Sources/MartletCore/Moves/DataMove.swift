/// Moves all data of one store to another. Copies the data, reads the copy back and compares it with the source. Only
/// if both are the same, marks the source as moved, and then completes the copy, so that a server can use it. If the
/// process ends between these last two steps, no server can use either store.
public struct DataMove {
    /// A message about the progress of a move.
    public enum Event: Sendable {
        /// This number of rows of the table `name` has been copied, or has been read again for the comparison. The name
        /// `blobs` stands for blobs.
        case progress(name: String, rows: Int64, isComparison: Bool)
        /// The rows of `name` in the copy are the same as in the source.
        case compared(name: String, MovedDigest)
        /// The copy is right. The source is marked as moved from now on, and then the copy is completed.
        case completing
    }

    /// Called with the progress. If it throws an error, the move fails with this error.
    public typealias Report = (Event) throws(StorageError) -> Void

    private let source: any RetiringMoveSource
    private let target: any MoveTarget
    private let rules: MoveRules
    private let report: Report

    public init(
        from source: any RetiringMoveSource, to target: any MoveTarget, rules: MoveRules,
        report: @escaping Report
    ) {
        self.source = source
        self.target = target
        self.rules = rules
        self.report = report
    }

    /// Moves everything.
    /// - Throws: `StorageError`, also if the copy differs from the source; then the target is not completed.
    public func run() throws(StorageError) {
        let directory = try source.directory()
        try target.begin(directory, try source.numbers())
        let blobs = try copyBlobs()
        var copied: [MovedTable: MovedDigest] = [:]
        for table in MovedTable.all where table.use != .compared { copied[table] = try copy(table) }
        try target.endCopying()
        let written = try target.directory()
        for (before, after) in zip(directory.compared(), written.compared()) {
            try compare(before.name, digest(of: before.rows), digest(of: after.rows))
        }
        try compare("blobs", blobs, try digestOfBlobs(target))
        for table in MovedTable.all where table.use != .copied {
            let before: MovedDigest
            if let known = copied[table] {
                before = known
            } else {
                before = try digest(of: table, in: source)
                try checkCount(of: table, before.count)
            }
            try compare(table.name, before, try digest(of: table, in: target))
        }
        for store: any MoveSource in [source, target] { try store.checkLastStep() }
        try report(.completing)
        try source.retire(to: target.place)
        do throws(StorageError) {
            try target.complete()
        } catch {
            throw StorageError(
                error.kind, "\(error.detail) The source is marked as moved; who opens it reads how to undo that.")
        }
    }

    func compare(_ name: String, _ before: MovedDigest, _ after: MovedDigest) throws(StorageError) {
        try check(name, before, after)
        try report(.compared(name: name, before))
    }

    /// Throws an error if two digests of rows differ.
    func check(_ name: String, _ before: MovedDigest, _ after: MovedDigest) throws(StorageError) {
        guard before == after else {
            throw StorageError(
                .corrupt,
                "The copy of '\(name)' differs: \(before.count) rows with the checksum \(before) became \(after.count) "
                    + "with \(after). Nothing was completed; the source is as it was.")
        }
    }

    // MARK: Rows

    func copy(_ table: MovedTable) throws(StorageError) -> MovedDigest {
        var digest = MovedDigest()
        var rows: Int64 = 0
        try target.beginRows(of: table)
        try source.readRows(of: table, isForComparison: false) { row throws(StorageError) in
            if table.use == .moved { digest.add(row, of: table, hash: rules.hash) }
            try target.add(row)
            rows += 1
            if rows % Self.reportInterval == 0 {
                try report(.progress(name: table.name, rows: rows, isComparison: false))
            }
        }
        try target.endRows()
        try checkCount(of: table, rows)
        return digest
    }

    /// Throws an error if the source has rows that were not read. They would be missing in the copy, and the comparison
    /// would not show it.
    func checkCount(of table: MovedTable, _ count: Int64) throws(StorageError) {
        guard let all = try source.count(of: table), all != count else { return }
        throw StorageError(
            .corrupt,
            "There are \(all) rows of '\(table.name)', but only \(count) can be moved: the others refer to rows that are "
                + "missing. Restore a backup, or delete these rows. Nothing was completed; the source is as it was.")
    }

    func digest(of table: MovedTable, in store: any MoveSource) throws(StorageError) -> MovedDigest {
        var digest = MovedDigest()
        try store.readRows(of: table, isForComparison: true) { row throws(StorageError) in
            digest.add(row, of: table, hash: rules.hash)
            if digest.count % Self.reportInterval == 0 {
                try report(.progress(name: table.name, rows: digest.count, isComparison: true))
            }
        }
        return digest
    }

    func digest(of rows: [[MovedValue]]) -> MovedDigest {
        var digest = MovedDigest()
        for row in rows { digest.add(row, hash: rules.hash) }
        return digest
    }

    private static let reportInterval: Int64 = 10_000

    // MARK: Blobs

    /// Computes the digest of blobs. For each blob, adds its row, and its content in pieces of `pieceSize` bytes. The
    /// pieces need a fixed size because each store reads blobs in pieces of another size.
    struct BlobDigest {
        var digest = MovedDigest()
        var blobs: Int64 = 0
        private var rest: [UInt8] = []
        private var offset: Int64 = 0
        private static let pieceSize = 65_536

        mutating func begin(_ blob: MovedBlob, _ hash: ([UInt8]) -> [UInt8]) {
            digest.add(blob.row, hash: hash)
            blobs += 1
            offset = 0
        }

        mutating func add(_ bytes: [UInt8], of blob: MovedBlob, _ hash: ([UInt8]) -> [UInt8]) {
            rest += bytes
            var done = 0
            while rest.count - done >= Self.pieceSize {
                add(rest[done..<done + Self.pieceSize], of: blob, hash)
                done += Self.pieceSize
            }
            if done > 0 { rest.removeFirst(done) }
        }

        mutating func end(_ blob: MovedBlob, _ hash: ([UInt8]) -> [UInt8]) {
            if !rest.isEmpty { add(rest[...], of: blob, hash) }
            rest = []
        }

        private mutating func add(_ piece: ArraySlice<UInt8>, of blob: MovedBlob, _ hash: ([UInt8]) -> [UInt8]) {
            digest.add(blob.row + [.integer(offset), .bytes(Array(piece))], hash: hash)
            offset += Int64(piece.count)
        }
    }

    func copyBlobs() throws(StorageError) -> MovedDigest {
        var digest = BlobDigest()
        try source.readBlobs { blob, read throws(StorageError) in try copy(blob, read, &digest) }
        return digest.digest
    }

    /// Copies a blob, and adds it to a digest.
    func copy(
        _ blob: MovedBlob, _ read: MoveSource.PieceReader, _ digest: inout BlobDigest
    ) throws(StorageError) {
        var own = digest
        own.begin(blob, rules.hash)
        try target.add(blob) { take throws(StorageError) in
            try read { piece throws(StorageError) in
                own.add(piece, of: blob, rules.hash)
                try take(piece)
            }
        }
        own.end(blob, rules.hash)
        digest = own
        if digest.blobs % 100 == 0 { try report(.progress(name: "blobs", rows: digest.blobs, isComparison: false)) }
    }

    func digestOfBlobs(_ store: any MoveSource) throws(StorageError) -> MovedDigest {
        var digest = BlobDigest()
        try store.readBlobs { blob, read throws(StorageError) in try add(blob, read, to: &digest) }
        return digest.digest
    }

    /// Reads a blob, and adds it to a digest.
    func add(_ blob: MovedBlob, _ read: MoveSource.PieceReader, to digest: inout BlobDigest) throws(StorageError) {
        var own = digest
        own.begin(blob, rules.hash)
        try read { piece throws(StorageError) in own.add(piece, of: blob, rules.hash) }
        own.end(blob, rules.hash)
        digest = own
    }
}
