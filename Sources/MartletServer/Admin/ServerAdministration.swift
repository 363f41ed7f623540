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
    let listeners: Listeners
    private let startedAt: Timestamp

    /// The addresses of the server's listeners, for apps and the console.
    struct Listeners: Sendable {
        var shared: [HTTPOrigin] = []
        /// The listener that serves only the console; nil if the console is served on the shared listeners, or not at
        /// all.
        var console: HTTPOrigin?
        var socket: String?

        var json: JSON {
            func member(_ purpose: String, _ address: String, _ isTLS: Bool) -> JSON {
                ["purpose": .string(purpose), "address": .string(address), "isTLS": .bool(isTLS)]
            }
            return .array(
                shared.map { member("shared", $0.description, $0.scheme == .https) }
                    + (socket.map { [member("proxy", "unix:\($0)", false)] } ?? [])
                    + (console.map { [member("console", $0.description, $0.scheme == .https)] } ?? []))
        }
    }

    init(
        metrics: ServerMetrics, version: String, listeners: Listeners, obstacle: @escaping @Sendable () async -> String?
    ) {
        self.metrics = metrics
        self.version = version
        self.obstacle = obstacle
        self.listeners = listeners
        startedAt = metrics.time.now
    }

    func addRoutes(to router: inout Router) {
        router.on(.get, "/server") { _, _ in
            let files = metrics.data.files
            let disk = files?.room.figures
            let sentence = await obstacle()
            let backup = (try? await files?.lastBackup()) ?? nil
            func number(_ value: Int64?) -> JSON { value.map(JSON.integer) ?? .null }
            return HTTPResponse(
                .ok,
                json: [
                    "version": .string(version), "startedAt": .string(startedAt.iso8601),
                    "databaseBytes": number(files?.fileSizes.database), "logBytes": number(files?.fileSizes.log),
                    "diskFree": number(disk.map { Int64($0.free) }),
                    "diskReserve": number(disk.map { Int64($0.reserve) }),
                    "memory": .integer(Int64(ProcessFigures().residentMemory)),
                    "writesWaiting": .integer(Int64(metrics.storage.waitingWrites)),
                    "backupAt": backup.map { .string($0.iso8601) } ?? .null,
                    "certificateEndsAt": metrics.certificateEnd.timestamp.map { .string($0.iso8601) } ?? .null,
                    "isReady": .bool(sentence == nil), "obstacle": sentence.map(JSON.string) ?? .null,
                    "listeners": listeners.json,
                ])
        }
    }
}
