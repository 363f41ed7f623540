import MartletCore
import Synchronization

/// Writes with group commit: all writes that wait for a shard form one transaction, and their callers resume after the
/// commit.
///
/// The writer runs at most one transaction of a shard at a time. A lock on the row with the shard's numbers
/// (`ShardNumbers`) keeps the transactions of other processes apart. So each write sees the results of the earlier
/// writes to its shard, as if there were one writer.
final class GroupWriter<Group: ShardGroup>: Sendable {
    private let links: [Link]
    private let queue: Mutex<Queue>
    private let patience: Duration
    /// Identifies this writer in the table `writers`.
    private let identity: Int64
    private let renewals: LeaseRenewals

    private struct Waiting {
        var write: Group.Write
        var deadline: ContinuousClock.Instant
        var fail: @Sendable (StorageError) -> Void
    }

    private struct Queue {
        var waiting: [Shard: [Waiting]] = [:]
        /// The shards with waiting writes and without a transaction. The first has waited longest.
        var ready: [Shard] = []
        var busy: Set<Shard> = []
        var freeLinks: [Int]
        var transactions: Int64 = 0
        var commits = 0
        var times = WriteTimes()
        var repetitions = 0
        var staleReads = 0
        var unknownCommits = 0
        var isClosed = false
        /// The closures to call when no write is waiting or running any more.
        var whenIdle: [@Sendable () -> Void] = []

        var isIdle: Bool { waiting.isEmpty && busy.isEmpty }
    }

    /// The maximum number of writes in one transaction. When more processes write to one shard, each process waits
    /// longer for the lock, and more writes gather meanwhile.
    private static var groupLimit: Int { 500 }

    /// - Parameters:
    ///   - links: The connections. Each runs one transaction at a time.
    ///   - patience: How long a write may take before its caller gets an error.
    ///   - identity: A number that no other writer ever uses.
    ///   - renewals: The renewals of this node's lease.
    init(_ links: [Link], patience: Duration, identity: Int64, _ renewals: LeaseRenewals) {
        self.links = links
        self.identity = identity
        self.patience = patience
        self.renewals = renewals
        queue = Mutex(Queue(freeLinks: Array(links.indices)))
    }

    /// The number of transactions that were committed, the number of repetitions (because the connection broke or the
    /// server rolled a transaction back), and the number of transactions whose COMMIT was not answered.
    var counts: (commits: Int, repetitions: Int, unknownCommits: Int) {
        queue.withLock { ($0.commits, $0.repetitions, $0.unknownCommits) }
    }

    /// The number of transactions that were repeated because rows that they had read were changed before their writes.
    var staleReads: Int { queue.withLock { $0.staleReads } }

    /// The number of writes that wait for a transaction.
    var waitingCount: Int { queue.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

    /// How long groups have waited for a transaction, and how long their transactions took.
    var writeTimes: WriteTimes { queue.withLock { $0.times } }

    /// Submits a write.
    /// - Parameter fail: Called if the write does not become part of a group. For a write in a group, the group tells
    ///   the caller the result.
    func submit(_ write: Group.Write, to shard: Shard, fail: @escaping @Sendable (StorageError) -> Void) {
        let waiting = Waiting(write: write, deadline: .now + patience, fail: fail)
        let isAccepted = queue.withLock { queue in
            guard !queue.isClosed else { return false }
            if queue.waiting[shard, default: []].isEmpty, !queue.busy.contains(shard) { queue.ready.append(shard) }
            queue.waiting[shard, default: []].append(waiting)
            return true
        }
        guard isAccepted else { return fail(DatabaseFailure.closed.storageError) }
        begin()
    }

    /// Refuses further writes, and returns when the waiting writes are done.
    func close() async {
        await withCheckedContinuation { caller in
            let isIdle = queue.withLock { queue in
                queue.isClosed = true
                guard !queue.isIdle else { return true }
                queue.whenIdle.append { caller.resume() }
                return false
            }
            if isIdle { caller.resume() }
        }
    }

    private func begin() {
        while let (shard, link) = next() {
            links[link].submit { access in
                self.runGroup(of: shard, access)
                let whenIdle = self.queue.withLock { queue in
                    queue.freeLinks.append(link)
                    queue.busy.remove(shard)
                    if !(queue.waiting[shard] ?? []).isEmpty { queue.ready.append(shard) }
                    guard queue.isIdle else { return [@Sendable () -> Void]() }
                    defer { queue.whenIdle = [] }
                    return queue.whenIdle
                }
                for call in whenIdle { call() }
                self.begin()
            }
        }
    }

    private func next() -> (Shard, Int)? {
        queue.withLock { queue in
            guard !queue.ready.isEmpty, let link = queue.freeLinks.popLast() else { return nil }
            let shard = queue.ready.removeFirst()
            queue.busy.insert(shard)
            return (shard, link)
        }
    }

    // MARK: On the thread of a link

    private func runGroup(of shard: Shard, _ access: Result<LinkAccess, DatabaseFailure>) {
        failOverdue()
        let begun = ContinuousClock.now
        let writes = queue.withLock { queue in
            let all = queue.waiting[shard] ?? []
            if let first = all.first { queue.times.wait.add(begun - (first.deadline - patience)) }
            queue.waiting[shard] = all.count > Self.groupLimit ? Array(all.dropFirst(Self.groupLimit)) : nil
            return all.prefix(Self.groupLimit).map(\.write)
        }
        guard !writes.isEmpty else { return }
        switch access {
        case .failure(let failure): Group(writes).fail(failure.storageError)
        case .success(var access):
            commit(writes, to: shard, Group.lockOrder, &access, attempt: 1)
            queue.withLock { $0.times.commit.add(.now - begun) }
        }
    }

    /// Fails the writes whose deadline passed before their transaction began, because the database is slow or waits for
    /// a standby.
    private func failOverdue() {
        let now = ContinuousClock.now
        let overdue = queue.withLock { queue in
            var overdue: [Waiting] = []
            for (shard, waiting) in queue.waiting where waiting.contains(where: { $0.deadline <= now }) {
                overdue += waiting.filter { $0.deadline <= now }
                let left = waiting.filter { $0.deadline > now }
                queue.waiting[shard] = left.isEmpty ? nil : left
                if left.isEmpty { queue.ready.removeAll { $0 == shard } }
            }
            return overdue
        }
        for waiting in overdue { waiting.fail(DatabaseFailure.late.storageError) }
    }

    private static var attempts: Int { 3 }

    private func commit(
        _ writes: [Group.Write], to shard: Shard, _ order: LockOrder, _ access: inout LinkAccess, attempt: Int
    ) {
        var group = Group(writes)
        var transaction = Transaction(shard: shard, writer: identity, number: nextTransaction(), order: order)
        let failure = transaction.run(
            &group, access.connection, patience, isHopeless: isHopeless, whileWaiting: { [self] in failOverdue() })
        switch failure {
        case nil:
            queue.withLock { $0.commits += 1 }
            group.succeed()
        case .undone(let failure) where failure.isOfConnection || failure.isTransient:
            if failure.isOfConnection { access.drop() }
            guard attempt < Self.attempts else { return give(up: group, writes, failure, shard, &access, attempt) }
            repeatCommit(writes, to: shard, &access, attempt: attempt, isBroken: failure.isOfConnection)
        case .stale:
            guard order == .beforeWrites else { return group.fail(Self.gone) }
            // Other transactions change the same rows. Now the lock is taken before the reads, so the rows cannot
            // change again.
            queue.withLock { $0.staleReads += 1 }
            commit(writes, to: shard, .beforeReads, &access, attempt: attempt)
        case .undone(let failure): give(up: group, writes, failure, shard, &access, attempt)
        case .refused(let error):
            guard writes.count > 1 else { return group.fail(error) }
            for write in writes { commit([write], to: shard, .beforeReads, &access, attempt: attempt) }
        case .unknown:
            queue.withLock { $0.unknownCommits += 1 }
            resolve(transaction, group, writes, &access, attempt: attempt)
        case .answered: access.drop()
        }
    }

    /// Returns whether to give up waiting for a COMMIT that was not answered before its deadline. If the lease has been renewed
    /// meanwhile, the database works, and the connection leads to a server or session that hangs. While a standby is
    /// missing, no renewal succeeds, and all COMMITs wait for it.
    private func isHopeless(since deadline: ContinuousClock.Instant) -> Bool {
        renewals.haveSucceeded(since: deadline) || queue.withLock(\.isClosed)
    }

    /// Fails a group. If one of its writes may be the reason, runs each write in a transaction of its own instead, so
    /// that the other writes are stored. If a lock was not obtained in time, or the machine is slow, the whole group
    /// fails, because more transactions would only add load.
    private func give(
        up group: Group, _ writes: [Group.Write], _ failure: DatabaseFailure, _ shard: Shard,
        _ access: inout LinkAccess, _ attempt: Int
    ) {
        guard writes.count > 1, failure.isAboutValues else { return group.fail(failure.storageError) }
        for write in writes { commit([write], to: shard, .beforeReads, &access, attempt: attempt) }
    }

    private func repeatCommit(
        _ writes: [Group.Write], to shard: Shard, _ access: inout LinkAccess, attempt: Int, isBroken: Bool
    ) {
        queue.withLock { $0.repetitions += 1 }
        do throws(DatabaseFailure) {
            if isBroken { try access.reconnect() }
            commit(writes, to: shard, .beforeReads, &access, attempt: attempt + 1)
        } catch {
            Group(writes).fail(error.storageError)
        }
    }

    /// Finds out what became of a transaction whose COMMIT was not answered, by reading the writer's row in `writers`.
    private func resolve(
        _ transaction: Transaction, _ group: Group, _ writes: [Group.Write], _ access: inout LinkAccess, attempt: Int
    ) {
        let isStored: Bool
        do throws(DatabaseFailure) {
            try access.reconnect()
            isStored = try transaction.isStored(
                Group.Numbers.self, fence: nextTransaction(), access.connection, .until(.now + patience))
        } catch {
            access.drop()
            return group.fail(Transaction.unknown)
        }
        if isStored { return group.succeed() }
        guard attempt < Self.attempts else { return group.fail(DatabaseFailure.late.storageError) }
        queue.withLock { $0.repetitions += 1 }
        commit(writes, to: transaction.shard, .beforeReads, &access, attempt: attempt + 1)
    }

    /// The error of a transaction that was refused although it took the lock before its reads. The server refused the
    /// transaction's record in `writers`, because the connection was considered lost (`Transaction.isStored`).
    private static var gone: StorageError { DatabaseFailure.late.storageError }

    private func nextTransaction() -> Int64 {
        queue.withLock { queue in
            queue.transactions += 1
            return queue.transactions
        }
    }
}
