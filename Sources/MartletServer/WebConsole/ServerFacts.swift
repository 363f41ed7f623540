import MartletConsole
import MartletCore
import MartletModel
import MartletNetwork
import MartletStorage
import Synchronization

/// Reads the server's figures for the console from the sources of the metrics.
final class ServerFacts: ConsoleFacts {
    private let metrics: ServerMetrics
    private let hubs: HubDirectory
    private let obstacle: @Sendable () async -> String?
    private let backlog = Mutex<(at: Timestamp, found: Backlog)?>(nil)
    private let retries = Mutex<(at: Timestamp, found: [LaneID: WaitingRetries])?>(nil)

    /// The largest backlog that is counted every time the figures are read, in deliveries.
    ///
    /// A larger backlog is counted only every ten seconds, because counting it takes longer.
    private static let smallBacklog = 5000

    init(metrics: ServerMetrics, hubs: HubDirectory, obstacle: @escaping @Sendable () async -> String?) {
        self.metrics = metrics
        self.hubs = hubs
        self.obstacle = obstacle
    }

    func sample() async -> ConsoleSample {
        let now = metrics.time.now
        var sample = ConsoleSample(at: now)
        addDeliveries(to: &sample)
        if let backlog = await currentBacklog(at: now) {
            sample.waiting = backlog.notifications
            sample.oldest = backlog.oldest.map { max(0, (now - $0).inSeconds) } ?? 0
        }
        await addFailures(to: &sample)
        sample.connections = await metrics.client.openCounts.filter { !$0.key.isEmpty }
        sample.loopBusy = metrics.loops.loops.map { $0.busyTime.inSeconds }
        sample.commit = metrics.storage.writeTimes.commit
        sample.certificateEndsAt = metrics.certificateEnd.timestamp
        sample.credentialEnds = await metrics.expiries.ends()
        sample.backupAt = try? await metrics.data.files?.lastBackup()
        sample.needsBackupSince = try? await metrics.data.files?.firstOpened()
        sample.disk = metrics.data.files?.room.figures.map { (Int64($0.free), Int64($0.reserve)) }
        sample.obstacle = await obstacle()
        return sample
    }

    private func addDeliveries(to sample: inout ConsoleSample) {
        let figures = metrics.dispatcher.metrics.figures
        for (platform, counts) in figures.outcomes {
            let sums = SendCounts(counts)
            sample.taken[platform.rawValue] = sums.succeeded
            sample.failed[platform.rawValue] = sums.failed
            sample.wrongCredentials[platform.rawValue] = (counts[.invalidCredentials] ?? 0) + (counts[.wrongToken] ?? 0)
        }
        sample.attempts = Self.named(figures.attempts)
        sample.failedAttempts = Self.named(figures.failures)
        for histogram in figures.latency.values { sample.latency.add(histogram) }
        let paused = metrics.dispatcher.pausedByLane
        sample.pausedLanes = Set(paused.lanes.compactMap(named))
        for lane in metrics.dispatcher.refusedCredentials.compactMap(named) {
            sample.refusedCredentials.append(lane)
            // The lane is paused because its credential was refused. Such a pause is reported separately, because it
            // does not end by itself. So the lane is removed from the other paused lanes.
            sample.pausedLanes.remove(lane)
        }
        sample.pausedOrigins = named(paused.origins)
        sample.quarantines = named(metrics.dispatcher.quarantinesByLane)
    }

    /// Returns a lane with the name of its hub; nil if the hub was deleted.
    private func named(_ lane: LaneID) -> ConsoleSample.Lane? {
        hubs.hub(lane.hub).map { ConsoleSample.Lane(hub: $0.name, platform: lane.platform.rawValue) }
    }

    private func named(_ counts: [LaneID: Int]) -> [ConsoleSample.Lane: Int] {
        counts.reduce(into: [:]) { result, entry in
            if let lane = named(entry.key) { result[lane] = entry.value }
        }
    }

    /// The maximum number of waiting pushes that are counted.
    private static let retryLimit = 10_000

    /// Adds the push services to which no push gets through. The lanes and origins of these services are then no longer
    /// counted as paused lanes and origins.
    private func addFailures(to sample: inout ConsoleSample) async {
        let dispatcher = metrics.dispatcher
        let failures = Dictionary(grouping: dispatcher.failingServices, by: \.lane)
        guard !failures.isEmpty else { return retries.withLock { $0 = nil } }
        let refused = Set(dispatcher.refusedCredentials)
        let waiting = await currentRetries(at: sample.at)
        for (lane, failures) in failures where !refused.contains(lane) {
            guard let place = named(lane), let worst = failures.max(by: { $0.attempts < $1.attempts }) else { continue }
            let pauseEnd = dispatcher.pauseEnd(of: lane)
            sample.failingServices.append(
                ConsoleSample.FailingService(
                    hub: place.hub, platform: place.platform, origin: worst.origin, origins: failures.count,
                    since: worst.since, lastAt: failures.map(\.lastAt).max() ?? worst.lastAt,
                    attempts: failures.reduce(0) { $0 + $1.attempts }, status: worst.status,
                    reason: worst.outcome.reason, isWholeLane: failures.contains(where: \.isWholeLane),
                    waiting: waiting[lane].map { waiting in
                        ConsoleSample.FailingService.Waiting(
                            pushes: waiting.pushes, isPartial: waiting.isPartial, notifications: waiting.notifications,
                            firstExpiry: waiting.firstExpiry, next: max(waiting.nextDue, pauseEnd ?? waiting.nextDue))
                    }))
            sample.pausedLanes.remove(place)
            let origins = Set(failures.map(\.origin))
            sample.pausedOrigins[place, default: 0] -= dispatcher.originPauses(of: lane).count { pause in
                pause.origin.map(origins.contains) ?? false
            }
        }
    }

    private func currentRetries(at now: Timestamp) async -> [LaneID: WaitingRetries] {
        let known = retries.withLock(\.self)
        let isLarge = backlog.withLock { ($0?.found.deliveries ?? 0) > Self.smallBacklog }
        if isLarge, let known, now - known.at < .seconds(10) { return known.found }
        guard let found = try? await metrics.storage.waitingRetries(limit: Self.retryLimit) else {
            return known?.found ?? [:]
        }
        retries.withLock { $0 = (now, found) }
        return found
    }

    private static func named(_ counts: [PlatformID: Int]) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) })
    }

    private func currentBacklog(at now: Timestamp) async -> Backlog? {
        let known = backlog.withLock(\.self)
        if let known, known.found.deliveries > Self.smallBacklog, now - known.at < .seconds(10) { return known.found }
        guard let found = try? await metrics.storage.backlog() else { return known?.found }
        backlog.withLock { $0 = (now, found) }
        return found
    }
}
