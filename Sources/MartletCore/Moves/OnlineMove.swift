/// Moves all data of a store to another while a server serves from the source.
///
/// `copy()` copies what a snapshot of the source has, and compares the copy with it; meanwhile the server goes on. Then
/// the server stops writing, `catchUp()` copies what differs from the snapshot, and `complete()` ends the move as
/// `DataMove` does. Used on one thread; calls block.
public final class OnlineMove {
    private let source: any OnlineMoveSource
    private let target: any OnlineMoveTarget
    private let rules: MoveRules
    private let report: DataMove.Report
    private let steps: DataMove
    /// What was copied of each table: of the snapshot at first, and of the last state after `catchUp`.
    private var digests: [MovedTable: MovedDigest] = [:]
    /// True if `complete` has failed, and it is not known whether the target is complete. The source stays marked.
    public private(set) var isDoubtful = false

    /// - Parameter report: Called with the progress. If it throws an error, the move fails with this error.
    public init(
        from source: any OnlineMoveSource, to target: any OnlineMoveTarget, rules: MoveRules,
        report: @escaping DataMove.Report
    ) {
        self.source = source
        self.target = target
        self.rules = rules
        self.report = report
        steps = DataMove(from: source, to: target, rules: rules, report: report)
    }

    /// The tables that are copied only when nothing is written any more, because their rows are not in the database
    /// alone: progress maps are files, and jobs name the versions of blobs.
    private static let late: Set<String> = ["progress", "jobs"]

    /// Copies what the snapshot has, and compares the copy with it.
    public func copy() throws(StorageError) {
        try target.begin(try source.directory(), try source.numbers())
        let blobs = try steps.copyBlobs()
        for table in MovedTable.all where table.use != .compared && !Self.late.contains(table.name) {
            digests[table] = try steps.copy(table)
        }
        try target.endCopying()
        try steps.check("blobs", blobs, try steps.digestOfBlobs(target))
        for table in MovedTable.all where table.use != .copied && !Self.late.contains(table.name) {
            let before: MovedDigest
            if let known = digests[table] {
                before = known
            } else {
                before = try steps.digest(of: table, in: source)
                try steps.checkCount(of: table, before.count)
            }
            try steps.check(table.name, before, try steps.digest(of: table, in: target))
        }
    }

    /// Copies what differs from the snapshot, and compares all rows that it has copied. Nothing may be written to the
    /// source from this call on.
    ///
    /// Rows that are the same as in the snapshot are not read from the target again: they were compared by `copy()`,
    /// and only this move can write to the target. What a table derives from others (`MovedTable.Use.compared`) follows
    /// from these.
    public func catchUp() throws(StorageError) {
        try source.advance()
        let directory = try source.directory()
        try target.beginChanges(directory, try source.numbers())
        try changeBlobs()
        // Registrations come before channels (`OnlineMoveSource.readChanges`).
        var tables = MovedTable.all.filter { $0.use != .compared && !Self.late.contains($0.name) }
        let channels = tables.filter { $0.name == "channels" }
        tables = tables.filter { $0.name != "channels" } + channels
        var changed: [MovedTable: MovedDigest] = [:]
        for table in tables { changed[table] = try stageChanges(of: table) }
        try target.applyChanges()
        for table in MovedTable.all where Self.late.contains(table.name) { digests[table] = try steps.copy(table) }
        try target.endChanges()
        let written = try target.directory()
        for (before, after) in zip(directory.compared(), written.compared()) {
            try steps.compare(before.name, steps.digest(of: before.rows), steps.digest(of: after.rows))
        }
        for table in tables where table.use != .copied {
            if let added = changed[table], added.count > 0 {
                var copy = MovedDigest()
                try target.readAdded(to: table) { row throws(StorageError) in
                    copy.add(row, of: table, hash: rules.hash)
                }
                try steps.check(table.name, added, copy)
            }
            if let digest = digests[table] { try report(.compared(name: table.name, digest)) }
        }
        for table in MovedTable.all where Self.late.contains(table.name) {
            try steps.compare(table.name, digests[table] ?? MovedDigest(), try steps.digest(of: table, in: target))
        }
        // Here and not in `complete`, because the move can still be given up while the database is waited for.
        try target.checkLastStep()
    }

    /// Marks the source as moved, and completes the target. If that fails for certain, the source gets its mark off
    /// again.
    public func complete() throws(StorageError) {
        try report(.completing)
        do throws(StorageError) {
            try source.retire(to: target.place)
        } catch {
            // The mark may have been made, and only not been flushed.
            throw reinstated(after: error)
        }
        do throws(StorageError) {
            try target.complete()
        } catch {
            guard target.isOutcomeUnknown else { throw reinstated(after: error) }
            isDoubtful = true
            throw StorageError(
                error.kind, "\(error.detail) The source is marked as moved; who opens it reads how to undo that.")
        }
    }

    /// Removes the mark of the source.
    /// - Returns: Why the move has failed, and that the mark is still there if it could not be removed.
    private func reinstated(after failure: StorageError) -> StorageError {
        do throws(StorageError) {
            try source.reinstate()
            return failure
        } catch {
            return StorageError(
                failure.kind,
                "\(failure.detail) Nothing was moved, but the source is still marked as moved: \(error.detail) Remove the "
                    + "mark before the server starts again; who opens the source reads where it is.")
        }
    }

    // MARK: Changes

    /// Passes the rows of a table that differ from the snapshot to the target.
    /// - Returns: The digest of the rows that were added, or have replaced others.
    private func stageChanges(of table: MovedTable) throws(StorageError) -> MovedDigest {
        var added = MovedDigest()
        var all = digests[table] ?? MovedDigest()
        let isDigested = table.use == .moved
        try target.beginChanges(of: table)
        try source.readChanges(
            of: table,
            read: { rows throws(StorageError) in
                try report(.progress(name: table.name, rows: rows, isComparison: true))
            },
            removed: { row throws(StorageError) in
                if isDigested { all.remove(row, of: table, hash: rules.hash) }
                try target.remove(row)
            },
            added: { row throws(StorageError) in
                if isDigested {
                    all.add(row, of: table, hash: rules.hash)
                    added.add(row, of: table, hash: rules.hash)
                }
                try target.add(row)
            })
        try target.endChangesOfTable()
        if isDigested { try steps.checkCount(of: table, all.count) }
        digests[table] = all
        return added
    }

    /// Copies blobs that have changed, and removes those that are gone. Compares the contents of the former, and the
    /// names, sizes and times of all.
    private func changeBlobs() throws(StorageError) {
        var all = MovedDigest()
        try source.readBlobs { blob, _ in all.add(blob.row, hash: rules.hash) }
        var copied = DataMove.BlobDigest()
        var changed: Set<MovedBlob.Identity> = []
        try source.readChangedBlobs { blob, read throws(StorageError) in
            try target.remove(blob)
            try steps.copy(blob, read, &copied)
            changed.insert(blob.identity(rules))
        }
        var written = try digestOfNames()
        if written != all {
            var present: Set<MovedBlob.Identity> = []
            try source.readBlobs { blob, _ in present.insert(blob.identity(rules)) }
            var gone: [MovedBlob] = []
            try target.readBlobs { blob, _ in if !present.contains(blob.identity(rules)) { gone.append(blob) } }
            // A container is removed after its blobs.
            for blob in gone.reversed() { try target.remove(blob) }
            written = try digestOfNames()
        }
        try steps.check("blobs", all, written)
        if !changed.isEmpty {
            var copy = DataMove.BlobDigest()
            try target.readBlobs { blob, read throws(StorageError) in
                guard changed.contains(blob.identity(rules)) else { return }
                try steps.add(blob, read, to: &copy)
            }
            try steps.check("blobs", copied.digest, copy.digest)
        }
        try report(.compared(name: "blobs", all))
    }

    private func digestOfNames() throws(StorageError) -> MovedDigest {
        var digest = MovedDigest()
        try target.readBlobs { blob, _ in digest.add(blob.row, hash: rules.hash) }
        return digest
    }
}

/// A store from which data is moved while a server uses it.
///
/// All reads see a snapshot until `advance` is called. Blobs are an exception: they are read as they are, and uploads
/// that are not finished are left out until then.
public protocol OnlineMoveSource: RetiringMoveSource {
    /// From now on all reads see the present state. Nothing may be written any more.
    func advance() throws(StorageError)
    /// Finds the rows of a table that differ between the snapshot and the present state. A row that has changed is
    /// removed and added. Called after `advance`, for each table once, and for channels after registrations.
    /// - Parameter read: Called from time to time with the number of rows that have been read.
    func readChanges(
        of table: MovedTable, read: (Int64) throws(StorageError) -> Void, removed: RowReceiver, added: RowReceiver
    ) throws(StorageError)
    /// Calls `each` with the blobs that are new or other ones than those that were read before `advance`.
    func readChangedBlobs(_ each: (MovedBlob, PieceReader) throws(StorageError) -> Void) throws(StorageError)
    /// Removes the mark of `retire` again.
    func reinstate() throws(StorageError)
}

/// A store to which data is moved in two parts: all rows, and then the changes of rows.
public protocol OnlineMoveTarget: MoveTarget {
    /// Writes the hubs anew, and prepares for changes of rows. Called after `endCopying`.
    func beginChanges(_ directory: MovedDirectory, _ numbers: MovedNumbers) throws(StorageError)
    /// Announces changes of a table. They follow as calls of `remove(_:)` and `add(_:)`, until `endChangesOfTable`.
    func beginChanges(of table: MovedTable) throws(StorageError)
    /// Removes a row, which has all its columns.
    func remove(_ row: [MovedValue]) throws(StorageError)
    func endChangesOfTable() throws(StorageError)
    /// Makes all changes that were announced.
    func applyChanges() throws(StorageError)
    /// Reads the rows that were added to a table by changes, to compare them.
    func readAdded(to table: MovedTable, _ each: RowReceiver) throws(StorageError)
    /// Removes a blob, or a container without blobs. Does nothing if there is none.
    func remove(_ blob: MovedBlob) throws(StorageError)
    /// Updates the data that the store derives from the rows.
    func endChanges() throws(StorageError)
    /// True if `complete` has failed and it is not known whether the store is complete.
    var isOutcomeUnknown: Bool { get }
}
