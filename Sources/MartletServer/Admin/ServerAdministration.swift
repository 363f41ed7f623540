import MartletCore
import MartletHTTP
import MartletModel
import MartletNetwork
import MartletStorage

/// Answers `GET /server` of the administration API with the state of the server itself.
struct ServerAdministration: Sendable {
    let metrics: ServerMetrics
    let version: String
    let obstacle: @Sendable () async -> String?
    private let startedAt: Timestamp

    init(metrics: ServerMetrics, version: String, obstacle: @escaping @Sendable () async -> String?) {
        self.metrics = metrics
        self.version = version
        self.obstacle = obstacle
        startedAt = metrics.time.now
    }

    func addRoutes(to router: inout Router) {
        router.on(.get, "/server") { _, _ in
            let sizes = metrics.storage.fileSizes
            let disk = metrics.storage.room.figures
            let sentence = await obstacle()
            let backup = (try? await metrics.storage.lastBackup()) ?? nil
            func number(_ value: Int64?) -> JSON { value.map(JSON.integer) ?? .null }
            return HTTPResponse(
                .ok,
                json: [
                    "version": .string(version), "startedAt": .string(startedAt.iso8601),
                    "databaseBytes": .integer(sizes.database), "logBytes": .integer(sizes.log),
                    "diskFree": number(disk.map { Int64($0.free) }),
                    "diskReserve": number(disk.map { Int64($0.reserve) }),
                    "memory": .integer(Int64(ProcessFigures().residentMemory)),
                    "writesWaiting": .integer(Int64(metrics.storage.waitingWrites)),
                    "backupAt": backup.map { .string($0.iso8601) } ?? .null,
                    "certificateEndsAt": metrics.certificateEnd.timestamp.map { .string($0.iso8601) } ?? .null,
                    "isReady": .bool(sentence == nil), "obstacle": sentence.map(JSON.string) ?? .null,
                ])
        }
    }
}
