import MartletCore
import MartletModel
import MartletNetwork
import MartletStorage

/// Collects the values of all metrics of a server when they are requested.
struct ServerMetrics: Sendable {
    let dispatcher: Dispatcher
    let data: DataStore
    let nodes: NodeService?
    let client: HTTPClient
    let loops: EventLoopGroup
    let expiries: CredentialExpiries
    let accepted: AcceptanceCount
    let requests: RequestCount
    let certificateEnd: CertificateEnd
    let time: any TimeSource

    var storage: any ServerStorage { data.storage }

    private typealias Samples = [(labels: [String], value: Double)]

    /// Returns the metrics in the format of `MetricsText`.
    /// - Throws: `StorageError` if the database does not answer.
    func text() async throws(StorageError) -> String {
        var text = MetricsText()
        try await addDeliveries(to: &text)
        await addServices(to: &text)
        text.add(
            .backupAge, try await data.files?.lastBackup().map { [([], max(0, (time.now - $0).inSeconds))] } ?? [])
        addDatabase(to: &text)
        addNode(to: &text)
        addProcess(to: &text)
        return text.text
    }

    private func addDeliveries(to text: inout MetricsText) async throws(StorageError) {
        let figures = dispatcher.metrics.figures
        text.add(.accepted, accepted.samples)
        text.add(.attempts, Self.samples(figures.attempts))
        text.add(.failures, Self.samples(figures.failures))
        text.add(
            .outcomes,
            figures.outcomes.sorted { $0.key < $1.key }.flatMap { platform, counts in
                counts.map { (labels: [platform.rawValue, $0.key.rawValue], value: Double($0.value)) }
                    .sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
            })
        text.add(.latency, figures.latency.sorted { $0.key < $1.key }.map { ([$0.key.rawValue], $0.value) })
        let load = dispatcher.load
        text.add(
            .deliveries,
            [
                (["running"], Double(load.running)), (["waiting"], Double(load.waiting)),
                (["sleeping"], Double(load.sleeping)),
            ])
        text.add(
            .held,
            dispatcher.heldCounts.sorted { $0.key.rawValue < $1.key.rawValue }
                .map { ([$0.key.rawValue], Double($0.value)) })
        let backlog = try await storage.backlog()
        text.add(.backlog, Double(backlog.deliveries))
        text.add(.oldest, backlog.oldest.map { max(0, (time.now - $0).inSeconds) } ?? 0)
        let parts = try await storage.waitingParts()
        text.add(.partsWaiting, Double(parts.count))
        text.add(.partsLate, parts.nextDue.map { max(0, (time.now - $0).inSeconds) } ?? 0)
    }

    private func addServices(to text: inout MetricsText) async {
        let connections = await client.openCounts
        text.add(
            .connections,
            connections.sorted { $0.key < $1.key }.map { ([$0.key.isEmpty ? "other" : $0.key], Double($0.value)) })
        let paused = dispatcher.paused
        text.add(.paused, Self.samples(paused.lanes, "lane") + Self.samples(paused.origins, "origin"))
        let failing = Dictionary(grouping: dispatcher.failingServices, by: \.lane.platform).mapValues(\.count)
        text.add(.failing, Self.samples(failing))
        text.add(.quarantines, Self.samples(dispatcher.quarantines))
        let renewals = dispatcher.metrics.figures.renewals.sorted { $0.key < $1.key }
        text.add(
            .renewals,
            renewals.flatMap { platform, renewals in
                [
                    (labels: [platform.rawValue, "succeeded"], value: Double(renewals.succeeded)),
                    (labels: [platform.rawValue, "failed"], value: Double(renewals.failed)),
                ]
            })
        text.add(.credentialExpiry, await expiries.samples(at: time.now))
        text.add(.certificateExpiry, certificateEnd.samples(at: time.now))
    }

    private func addDatabase(to text: inout MetricsText) {
        let times = storage.writeTimes
        // There are no samples for a database on PostgreSQL, because PostgreSQL itself reports the sizes of its
        // databases.
        let sizes = data.files?.fileSizes
        text.add(
            .databaseBytes, sizes.map { [(["database"], Double($0.database)), (["log"], Double($0.log))] } ?? [])
        text.add(.databaseMemory, data.files.map { [([], Double($0.memory))] } ?? [])
        let disk = data.files?.room.figures
        text.add(
            .diskBytes, disk.map { [(["free"], Double($0.free)), (["reserve"], Double($0.reserve))] } ?? [])
        text.add(.writesWaiting, Double(storage.waitingWrites))
        text.add(.writeWait, [([], times.wait)])
        text.add(.commitTime, [([], times.commit)])
    }

    private func addNode(to text: inout MetricsText) {
        let figures = nodes?.figures
        func add(_ family: MetricFamily, _ value: Int?) {
            text.add(family, value.map { [([], Double($0))] } ?? [])
        }
        add(.nodesAlive, figures?.liveNodes)
        text.add(.clusterUp, figures?.clusters.map { (["\($0.number)"], $0.isUp ? 1 : 0) } ?? [])
        add(.nodeIncarnation, figures.map { Int($0.incarnation) })
        add(.nodeHubs, figures?.hubs)
        add(.nodeTakeovers, figures?.takeovers)
        add(.nodeFencedSteps, figures?.refusedRecords)
        add(.nodeSelfFences, figures?.selfFences)
        text.add(.nodeLease, figures?.sinceRenewal.map { [([], $0.inSeconds)] } ?? [])
        text.add(.nodeClock, figures.map { [([], $0.clockDifference.inSeconds)] } ?? [])
    }

    private func addProcess(to text: inout MetricsText) {
        text.add(
            .loopBusy,
            loops.loops.enumerated().map { (labels: [String($0.offset)], value: $0.element.busyTime.inSeconds) })
        text.add(.requests, requests.samples)
        text.add(.refusals, requests.refused)
        text.add(.serverConnections, requests.connections)
        text.add(.refusedConnections, requests.refusedConnections)
        text.add(.bodyBytes, requests.bodyBytes)
        text.add(.answerBytes, requests.answerBytes)
        text.add(.refusedBodies, requests.refusedBodies)
        let process = ProcessFigures()
        text.add(.processorTime, process.processorTime)
        text.add(.residentMemory, process.residentMemory)
        text.add(.openFiles, Double(process.openFiles))
        text.add(.openFilesLimit, process.openFilesLimit)
        text.add(.startTime, process.startTime)
    }

    /// Returns one sample for each platform.
    /// - Parameter label: The value of a second label, after the platform; nil if the metric has no second label.
    private static func samples(_ counts: [PlatformID: Int], _ label: String? = nil) -> Samples {
        counts.sorted { $0.key < $1.key }.map { ([$0.key.rawValue] + (label.map { [$0] } ?? []), Double($0.value)) }
    }
}
