import MartletCore
import MartletModel
import Synchronization

/// This process as one of the nodes that share the database: its lease, its hubs, and the hints that it sends and
/// receives.
final class PostgresNodes: NodeStore {
    let incarnation: Int64
    private let startedAt: String
    let renewals = LeaseRenewals()
    let leaseDuration: Duration
    let hints: AsyncStream<NodeHint>
    private let report: AsyncStream<NodeHint>.Continuation
    private let link: NodeLink
    private let refusals = Atomic(0)

    /// The maximum number of hints that wait to be read. If there are more, the oldest are dropped. The next renewal
    /// finds the same changes by their numbers.
    private static let hintLimit = 4096
    /// The maximum number of hubs that one renewal hands over to another node.
    private static let handOverLimit = 16

    /// - Parameter start: How this process has joined the nodes.
    init(_ settings: ConnectionSettings, _ start: NodeStart, lease: Duration) {
        let incarnation = start.incarnation
        self.incarnation = incarnation
        startedAt = start.startedAt
        leaseDuration = lease
        let (hints, report) = AsyncStream<NodeHint>.makeStream(bufferingPolicy: .bufferingNewest(Self.hintLimit))
        (self.hints, self.report) = (hints, report)
        link = NodeLink(settings) { received in
            switch received {
            case .gap: report.yield(.lost)
            case .text(let text):
                if let hint = HintText(text)?.hint(to: incarnation) { report.yield(hint) }
            }
        }
    }

    var refusedRecords: Int { refusals.load(ordering: .relaxed) }

    func countRefusal() { refusals.add(1, ordering: .relaxed) }

    /// Sends hints to other nodes, and returns at once.
    func announce(_ hints: [HintText]) { link.send(hints.map(\.text)) }

    /// Makes this node read its hubs again, as if hints had been lost.
    func loseHints() { report.yield(.lost) }

    /// Closes the connection. The lease stays valid until its time is over.
    func close() async {
        await link.close()
        report.finish()
    }

    // MARK: NodeStore

    func renew() async throws(StorageError) -> NodeRenewal {
        let result: Result<NodeRenewal, StorageError>
        do throws(DatabaseFailure) {
            result = try await link.perform { [self] connection, patience throws(DatabaseFailure) in
                try renew(connection, patience)
            }
        } catch {
            throw error.storageError
        }
        return try result.get()
    }

    func databaseTime() async throws(StorageError) -> Timestamp {
        do throws(DatabaseFailure) {
            return try await link.perform { connection, patience throws(DatabaseFailure) in
                try connection.run(Batch(NodeStatements.clock), patience)[0][0].timestamp(0)
            }
        } catch {
            throw error.storageError
        }
    }

    func leave() async throws(StorageError) {
        do throws(DatabaseFailure) {
            try await link.perform { [incarnation] connection, patience throws(DatabaseFailure) in
                _ = try connection.run(Batch(NodeStatements.end) { $0.add(incarnation) }, patience)
            }
        } catch {
            throw error.storageError
        }
    }

    func nodes() async throws(StorageError) -> [NodeDescription] {
        do throws(DatabaseFailure) {
            return try await link.perform { connection, patience throws(DatabaseFailure) in
                let rows = try connection.run(Batch(NodeStatements.list), patience)[0]
                return (0..<rows.count).map { NodeDescription(rows[$0]) }
            }
        } catch {
            throw error.storageError
        }
    }

    /// The numbers of hubs of the nodes, by their incarnations in the first cluster.
    func hubsByHome() async throws(StorageError) -> [Int64: Int] {
        do throws(DatabaseFailure) {
            return try await link.perform { connection, patience throws(DatabaseFailure) in
                let rows = try connection.run(Batch(NodeStatements.hubsByHome), patience)[0]
                let counts = (0..<rows.count).map { (rows[$0].integer(0), Int(rows[$0].integer(1))) }
                return Dictionary(uniqueKeysWithValues: counts)
            }
        } catch {
            throw error.storageError
        }
    }

    /// The error of a job whose hub another node has taken over.
    static let notOwner = StorageError(.locked, "Another node has taken over the hub, and goes on with its jobs.")

    // MARK: Renewing

    /// The times by which nodes decide whether another node is alive.
    private struct Terms {
        /// How long after the end of a lease its node is declared dead.
        let margin: Duration
        /// How long a node must have renewed its own lease without a gap before it declares other nodes dead.
        let steadiness: Duration
        /// The time between two renewals of a node from which on there is a gap between them.
        let gap: Duration
        /// The age of the last renewal at which a node no longer counts as active.
        let silence: Duration

        init(lease: Duration) {
            (margin, steadiness) = (lease / 5, lease * 6 / 5)
            (gap, silence) = (lease / 2, lease * 3 / 10)
        }
    }

    static let replaced = StorageError(
        .locked,
        "This node did not renew its lease in time, and the other nodes have taken over its hubs. It must begin anew.")

    private func renew(
        _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> Result<NodeRenewal, StorageError> {
        let terms = Terms(lease: leaseDuration)
        let silence = terms.silence.wholeMilliseconds
        let renewedAt = ContinuousClock.now
        let renewal = Batch(NodeStatements.renew) {
            $0.add(incarnation)
            $0.add(leaseDuration.wholeMilliseconds)
            $0.add(terms.gap.wholeMilliseconds)
            $0.add(startedAt)
        }
        let isRenewed = try connection.run(renewal, patience)[0].count == 1
        // If the server warned, the renewal may be stored on this server and on no standby. Such a lease does not
        // count.
        guard !connection.hasWarned else { throw .late }
        guard isRenewed else { return .failure(Self.replaced) }
        renewals.record(startedAt: renewedAt)
        // Only a node whose renewal was answered judges others. Each batch is a transaction of its own, so that none
        // keeps the locks of another.
        let answers = try connection.run(
            [
                Batch(NodeStatements.bury) {
                    $0.add(incarnation)
                    $0.add(terms.steadiness.wholeMilliseconds)
                    $0.add(terms.margin.wholeMilliseconds)
                    $0.add(terms.gap.wholeMilliseconds)
                },
                Batch(NodeStatements.claim) {
                    $0.add(incarnation)
                    $0.add(silence)
                },
                Batch(NodeStatements.shares) {
                    $0.add(incarnation)
                    $0.add(silence)
                },
            ], patience)
        guard !connection.hasWarned else { throw .late }
        _ = try (answers[0].get(), answers[1].get())
        try handOver(answers[2].get()[0], connection, patience)
        var batch = Batch(NodeStatements.owned) { $0.add(incarnation) }
        batch.add(NodeStatements.directory)
        let rows = try connection.run(batch, patience)
        guard rows[1].count == 1 else { throw .corrupt("The row of the namespace is missing; restore a backup.") }
        var hubs: [Hub.ID: Int64] = [:]
        for index in 0..<rows[0].count {
            hubs[Shard(number: rows[0][index].integer32(0)).hub] = rows[0][index].integer(1)
        }
        return .success(
            NodeRenewal(
                hubs: hubs, directoryVersion: rows[1][0].integer(0), liveNodes: Int(rows[1][0].integer(1)),
                databaseTime: rows[1][0].timestamp(2)))
    }

    /// Hands idle hubs over to the node that owns the fewest hubs, until that node owns about as many as this one.
    private func handOver(
        _ shares: Rows, _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) {
        let counts = (0..<shares.count).map { (node: shares[$0].integer(0), hubs: shares[$0].integer(1)) }
        let own = counts.first { $0.node == incarnation }?.hubs ?? 0
        guard let fewest = counts.filter({ $0.node != incarnation }).min(by: { $0.hubs < $1.hubs }),
            own - fewest.hubs > 1
        else { return }
        let limit = min((own - fewest.hubs) / 2, Int64(Self.handOverLimit))
        var batch = Batch(.begin)
        batch.add(NodeStatements.lockIdle) {
            $0.add(incarnation)
            $0.add(limit)
        }
        do throws(DatabaseFailure) {
            let idle = try connection.run(batch, patience)[1]
            var end = Batch(NodeStatements.handOver) {
                $0.add(incarnation)
                $0.add(fewest.node)
                $0.add((0..<idle.count).map { idle[$0].integer32(0) })
            }
            end.add(.commit)
            try connection.run(end, patience)
        } catch {
            if !error.isOfConnection { _ = try connection.run([Batch(.rollback)], patience) }
            throw error
        }
    }
}

extension NodeDescription {
    fileprivate init(_ row: Row) {
        self.init(
            incarnation: row.integer(0), name: row.text(1), version: row.text(2), startedAt: row.timestamp(3),
            renewedAt: row.timestamp(4), isAlive: row.bool(5), hubs: Int(row.integer(6)))
    }
}
