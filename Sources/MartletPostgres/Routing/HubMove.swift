import Glibc
import MartletCore
import MartletModel

/// Moves a hub to another cluster while nodes serve it. Calls block, and must be made on one thread.
///
/// What decides is one row in the first cluster: `hubs.cluster`, which the last step changes in one transaction, and
/// only if `hubs.move` still has the token of this move. Before that step the hub is on its old cluster, where a shard
/// that was stopped is freed by any node that finds the move's locks free (`ClusteredStorage.settleMoves`). After it the
/// hub is on the new cluster, where any node frees the shard if the move does not. So the process may end anywhere.
///
/// All changes that could do harm later are made on three connections that hold locks and are never made again. So a
/// move that was suspended, and that others took for ended, does nothing when it wakes up.
final class HubMove {
    struct Plan: Sendable {
        var hub: Hub.ID
        var source: Int32
        var target: Int32
        /// The addresses of the first cluster, of the source and of the target.
        var addresses: (home: DatabaseAddress, source: DatabaseAddress, target: DatabaseAddress)
        var schema: String
        var quiet: QuietTime
        /// Called after each step. If it returns true, the move ends there without another word, as if the process had
        /// been killed. For tests.
        var isKilled: @Sendable (Step) -> Bool = { _ in false }
    }

    /// How long no node sends for the hub before it is stopped.
    struct QuietTime: Sendable {
        /// How long the move waits at most until each node knows that it must not send for the hub. A node that renews
        /// no lease for so long has stopped by itself.
        var nodes = Duration.seconds(12)
        /// How long the move waits after that for answers of push services, and for their records.
        var answers = Duration.seconds(2)
    }

    enum Step: CaseIterable, Sendable {
        case begun, copied, quiet, stopped, compared, prepared, switched, completed
    }

    private let plan: Plan
    private let token: Int64
    private let home: BulkConnection
    private let source: BulkConnection
    private let target: BulkConnection
    private var progress = HubMoveProgress()
    private let report: @Sendable (HubMoveProgress) -> Void

    private var shard: Shard { Shard(plan.hub) }

    /// How many rows a round may copy for the next to be the last one before the hub is stopped.
    private static let fewRows: Int64 = 2000
    private static let roundLimit = 8
    /// How long a statement may take while writes are refused.
    private static let stopLimit = "60s"

    init(_ plan: Plan, report: @escaping @Sendable (HubMoveProgress) -> Void) throws(StorageError) {
        (self.plan, self.report) = (plan, report)
        token = Int64.random(in: 1 ... .max)
        let home = try Self.connect(plan.addresses.home, plan.schema)
        let source = try Self.connect(plan.addresses.source, plan.schema)
        let target = try Self.connect(plan.addresses.target, plan.schema)
        (self.home, self.source, self.target) = (home, source, target)
        try Self.check(source, plan.source, plan.addresses.source)
        try Self.check(target, plan.target, plan.addresses.target)
    }

    /// Checks that a connection leads to a cluster, and not to a database that was made anew, for example.
    private static func check(
        _ connection: BulkConnection, _ number: Int32, _ address: DatabaseAddress
    ) throws(StorageError) {
        let found = try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.run(ClusterPlace.statement)[0].integer32(0)
        }
        guard found == number else {
            throw StorageError(
                .unavailable, "\(address) is not the database of cluster \(number). Nothing was changed.")
        }
    }

    private static func connect(_ address: DatabaseAddress, _ schema: String) throws(StorageError) -> BulkConnection {
        let (connection, state) = try MoveSession.open(address, schema)
        // The planner is told that there is one shard (`Migration.devices`), and would read the rows of all.
        try MoveSession.attempt { () throws(DatabaseFailure) in try connection.run("SET enable_seqscan = off") }
        guard state == .current else {
            throw StorageError(
                .unavailable, "The schema of \(address) is not that of this version. Upgrade all nodes first.")
        }
        return connection
    }

    /// Moves the hub.
    /// - Throws: `StorageError`; then the hub is where it was, unless the error says that this is not known.
    func run() throws(StorageError) -> HubMoveProgress {
        try lock()
        var isUnknown = false
        do throws(StorageError) {
            try begin()
            try copy()
            try makeQuiet()
            let stopped = ContinuousClock.now
            try stop()
            try compare()
            try prepare()
            isUnknown = try !complete()
            if !isUnknown {
                guard !plan.isKilled(.switched) else { throw Self.killed }
                // If this fails, the nodes do it.
                _ = try? MoveSession.attempt(freeTarget)
            }
            progress.refusal = .now - stopped
        } catch {
            guard error != Self.killed else { throw error }
            undo()
            throw StorageError(
                error.kind,
                "\(error.detail) The move to cluster \(plan.target) was given up; the hub is on cluster \(plan.source)."
            )
        }
        guard !isUnknown else {
            throw StorageError(
                .unavailable,
                "The first cluster did not confirm the last step, so it is not known whether the hub has moved. "
                    + "'martlet cluster list' shows it; the nodes find out by themselves. If it has not, move it again."
            )
        }
        try step(.completed, .done)
        return progress
    }

    // MARK: Steps

    private func lock() throws(StorageError) {
        try expect(home, HubMoveLock.ofHub(plan.hub, plan.schema), "Another move of the hub is under way. Wait for it.")
        for connection in [source, target] {
            try expect(
                connection, HubMoveLock.ofShard(plan.hub, plan.schema),
                "What an earlier move of the hub has left is being removed. Try again in a minute.")
        }
    }

    private func expect(_ connection: BulkConnection, _ key: Int64, _ sentence: String) throws(StorageError) {
        let isLocked = try MoveSession.attempt { () throws(DatabaseFailure) in
            try connection.run(HubMoveStatements.tryLock) { $0.add(key) }[0].bool(0)
        }
        guard isLocked else { throw StorageError(.unavailable, sentence) }
    }

    private func begin() throws(StorageError) {
        let old = try MoveSession.attempt { () throws(DatabaseFailure) in
            try home.run(ClusterStatements.olderNodes) { $0.add(Int32(Migration.all.count)) }[0].integer(0)
        }
        guard old == 0 else {
            throw StorageError(
                .unavailable,
                "A node of an earlier version is alive, and knows of no clusters. Upgrade all nodes first.")
        }
        let isBegun = try changeHub(HubMoveStatements.setMove) { [plan, token] in
            $0.add(plan.hub.rawValue)
            $0.add(token)
            $0.add(plan.source)
        }
        guard isBegun == true else {
            throw StorageError(.unavailable, "The hub was deleted or moved meanwhile. Nothing was changed.")
        }
        try MoveSession.attempt { () throws(DatabaseFailure) in
            // An earlier move that did not complete may have stopped the hub.
            try run(source, HubMoveStatements.freeOtherOrdinals, HubMoveStatements.freeOtherSendOrdinals)
            try run(target, HubMoveStatements.holdOrdinals, HubMoveStatements.holdSendOrdinals)
            // The copy leaves no marks. From here on, no pack of the hub is made there until it has moved.
            for statement in [PackStatements.removePacksOfShard, PackStatements.removeMarksOfShard] {
                try target.run(statement) { $0.add(shard.number) }
            }
            try copyPlatforms()
        }
        try step(.begun, .copying)
    }

    /// Gives the target the numbers of platforms that the source has.
    private func copyPlatforms() throws(DatabaseFailure) {
        let platforms = try source.run(NumberStatements.platforms)
        for index in 0..<platforms.count {
            try target.run(NumberStatements.addPlatform) {
                $0.add(platforms[index].integer32(0))
                $0.add(platforms[index].text(1))
            }
        }
        let same = try target.run(HubMoveStatements.countPlatforms) {
            $0.add((0..<platforms.count).map { platforms[$0].integer32(0) })
            $0.add((0..<platforms.count).map { platforms[$0].text(1) })
        }
        guard same[0].integer(0) == Int64(platforms.count) else {
            throw .corrupt("The two clusters number platforms in different ways. Restore a backup of one of them.")
        }
    }

    private func copy() throws(StorageError) {
        for _ in 0..<Self.roundLimit {
            let copied = try shardCopy().round().copied
            if copied <= Self.fewRows { break }
        }
        try step(.copied, .copying)
    }

    /// Lets the nodes stop sending for the hub, so that what was sent is answered and recorded before the hub is
    /// stopped.
    private func makeQuiet() throws(StorageError) {
        guard
            try changeHub(
                HubMoveStatements.setQuiet,
                { [plan, token] in
                    $0.add(plan.hub.rawValue)
                    $0.add(token)
                }) == true
        else { throw Self.revoked }
        try step(.quiet, .quiet)
        let limit = ContinuousClock.now + plan.quiet.nodes
        let moment = try MoveSession.attempt { () throws(DatabaseFailure) in
            try home.run(HubMoveStatements.clock)[0].text(0)
        }
        while ContinuousClock.now < limit {
            let unaware = try MoveSession.attempt { () throws(DatabaseFailure) in
                try home.run(HubMoveStatements.unawareNodes) { $0.add(moment) }[0].integer(0)
            }
            guard unaware > 0 else { break }
            // Nodes write their renewals about once a second. The thread has no other work.
            usleep(50_000)
        }
        let begun = ContinuousClock.now
        _ = try shardCopy().round()
        // No event says that the answers of all nodes were recorded.
        let left = begun + plan.quiet.answers - .now
        if left > .zero { usleep(UInt32(left / .microseconds(1))) }
    }

    /// Stops the hub: from now on each write is refused. Waits for the transactions that are under way.
    private func stop() throws(StorageError) {
        progress.phase = .comparing
        report(progress)
        let isCommitted = try MoveSession.attempt { () throws(DatabaseFailure) in
            for connection in [source, target] {
                try connection.run(HubMoveStatements.limit) { $0.add(Self.stopLimit) }
            }
            try source.run(Statement.begin)
            for statement in [HubMoveStatements.stopOrdinals, HubMoveStatements.stopSendOrdinals] {
                guard try source.run(statement, token(of:)).changes == 1 else {
                    throw .corrupt("The hub is not on its cluster. Restore a backup.")
                }
            }
            return try MoveSession.commit(source)
        }
        guard isCommitted else { throw DatabaseFailure.late.storageError }
        try step(.stopped, .comparing)
    }

    /// Copies what has changed, until everything is equal.
    private func compare() throws(StorageError) {
        // A device may have been the first of its platform since the move began.
        try MoveSession.attempt(copyPlatforms)
        var left: Set<String>?
        for _ in 0..<Self.roundLimit {
            let round = try shardCopy().round(left)
            progress.compared += round.equal
            left = round.differing
            if round.differing.isEmpty { return try step(.compared, .comparing) }
        }
        throw StorageError(
            .unavailable,
            "The copy of the hub does not become equal to the original, in \(left?.sorted().joined(separator: ", ") ?? ""). "
                + "The hub stays where it is. Try again.")
    }

    /// Gives the shard in the new cluster its numbers. It is written to only after the last step, which is also why it
    /// keeps the token until then: if the move does not complete, the shard is what a move has left.
    private func prepare() throws(StorageError) {
        let isCommitted = try MoveSession.attempt { () throws(DatabaseFailure) in
            var rows: [String] = []
            for statement in [HubMoveStatements.readOrdinals, HubMoveStatements.readSendOrdinals] {
                rows.append(try source.run(statement) { $0.add(shard.number) }[0].text(0))
            }
            try target.run(Statement.begin)
            try target.run(HubStatements.removeShard) { $0.add(shard.number) }
            for (statement, row) in zip([HubMoveStatements.writeOrdinals, HubMoveStatements.writeSendOrdinals], rows) {
                try target.run(statement) {
                    $0.add(row)
                    $0.add(token)
                }
            }
            return try MoveSession.commit(target)
        }
        guard isCommitted else { throw DatabaseFailure.late.storageError }
        try step(.prepared, .comparing)
    }

    /// Makes the new cluster that of the hub.
    /// - Returns: False if it is not known whether that is stored.
    private func complete() throws(StorageError) -> Bool {
        guard
            let isDone = try changeHub(
                HubMoveStatements.setCluster,
                { [plan, token] in
                    $0.add(plan.hub.rawValue)
                    $0.add(token)
                    $0.add(plan.target)
                })
        else { return false }
        guard isDone else { throw Self.revoked }
        return true
    }

    /// Lets the shard in the new cluster be written to.
    private func freeTarget() throws(DatabaseFailure) {
        try run(target, ClusterStatements.freeOrdinals, ClusterStatements.freeSendOrdinals)
    }

    /// Gives the move up. What fails here is done by the nodes once this connection is gone.
    private func undo() {
        _ = try? changeHub(ClusterStatements.endMove) { [plan, token] in
            $0.add(plan.hub.rawValue)
            $0.add(token)
        }
        // The shard may be freed only after the token is gone, because a move with its token could complete.
        let isGone = try? home.run(ClusterStatements.route) { $0.add(plan.hub.rawValue) }
        guard let isGone, isGone.count == 0 || isGone[0].optionalInteger(2) != token else { return }
        _ = try? source.run(Statement.rollback)
        _ = try? run(source, ClusterStatements.freeOrdinals, ClusterStatements.freeSendOrdinals)
    }

    // MARK: Helpers

    private func shardCopy() throws(StorageError) -> ShardCopy {
        try MoveSession.attempt { () throws(DatabaseFailure) in
            try ShardCopy(shard, from: source, to: target) { [self] copied in
                progress.copied += copied
                report(progress)
            }
        }
    }

    private func step(_ step: Step, _ phase: HubMoveProgress.Phase) throws(StorageError) {
        guard !plan.isKilled(step) else { throw Self.killed }
        progress.phase = phase
        report(progress)
    }

    /// Changes the row of the hub in the first cluster, and tells the nodes.
    /// - Returns: Whether the row was changed; nil if that is not known.
    private func changeHub(
        _ statement: Statement, _ fill: (inout Parameters) -> Void
    ) throws(StorageError) -> Bool? {
        let isChanged: Bool? = try MoveSession.attempt { () throws(DatabaseFailure) in
            try home.run(Statement.begin)
            try home.run(HubStatements.countDirectory)
            guard try home.run(statement, fill).changes == 1 else {
                try home.run(Statement.rollback)
                return false
            }
            return try MoveSession.commit(home) ? true : nil
        }
        guard isChanged == true else { return isChanged }
        // If the hint does not arrive, the next renewal of each node finds the change.
        _ = try? home.run(NodeStatements.notify) { [plan] in
            $0.add(NodeLink.channel(of: plan.schema))
            $0.add([HintText.directory.text])
        }
        return true
    }

    private func token(of parameters: inout Parameters) {
        parameters.add(shard.number)
        parameters.add(token)
    }

    /// Runs two statements on the rows of numbers in one transaction.
    private func run(
        _ connection: BulkConnection, _ devices: Statement, _ sends: Statement
    ) throws(DatabaseFailure) {
        try connection.run(Statement.begin)
        for statement in [devices, sends] { try connection.run(statement, token(of:)) }
        try connection.run(Statement.commit)
    }

    private static let killed = StorageError(.closed, "The move was killed by a test.")
    private static let revoked = StorageError(
        .unavailable,
        "The nodes took the move for ended, because its connection to the first cluster was gone for a while, or the hub "
            + "was deleted. The hub stays where it is. Try again.")
}
