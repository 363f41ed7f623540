import Glibc
import MartletCore
import MartletHTTP
import MartletModel
import MartletStorage

/// Makes and serves backups.
///
/// `GET /backup` answers with a new backup. With `?keys=1`, the backup includes the server's keys.
///
/// The paths that begin with `/backups` are for the backups in the data directory, which never include keys. `GET
/// /backups` lists the backups, and `POST /backups` makes one. `POST /backups/{backup}/verify` reads a backup to check
/// it, and `GET /backups/{backup}` answers with the file of a backup.
struct BackupAdministration: Sendable {
    private static let pieceSize = 256 << 10

    let source: BackupSource
    let directory: BackupDirectory

    func addRoutes(to router: inout Router) {
        router.on(.get, "/backup") { _, match in
            do {
                return response(try await source.begin(withKeys: match.target.item("keys")?.value == "1"))
            } catch let error as StorageError {
                return HTTPResponse(error.kind == .locked ? .conflict : .serviceUnavailable, error: error.detail)
            } catch {
                return HTTPResponse(.conflict, error: "\(error)")
            }
        }
        router.on(.get, "/backups") { _, _ in answer { () throws(ServerError) in HTTPResponse(.ok, json: try list()) } }
        router.on(.post, "/backups") { _, _ in begin(.make) }
        router.on(.post, "/backups/{backup}/verify") { _, match in
            answer { () throws(ServerError) in
                guard try directory.path(ofEntry: match["backup"]) != nil else { return Self.unknown }
                return begin(.verify(match["backup"]))
            }
        }
        router.on(.get, "/backups/{backup}") { _, match in
            answer { () throws(ServerError) in
                guard let path = try directory.path(ofEntry: match["backup"]) else { return Self.unknown }
                return try file(path, named: match["backup"])
            }
        }
    }

    private static let unknown = HTTPResponse(
        .notFound, error: "There is no such backup: it may be older than those kept.")

    private func answer(_ work: () throws(ServerError) -> HTTPResponse) -> HTTPResponse {
        do throws(ServerError) {
            return try work()
        } catch {
            return HTTPResponse(.serviceUnavailable, error: error.description)
        }
    }

    private func begin(_ work: BackupDirectory.Work) -> HTTPResponse {
        if let refusal = directory.begin(work) { return HTTPResponse(.conflict, error: refusal) }
        return HTTPResponse(202, json: ["work": Self.json(work)])
    }

    private func list() throws(ServerError) -> JSON {
        let state = directory.current
        let backups = try directory.entries().map { entry -> JSON in
            let finding = state.findings[entry.name]
            return [
                "name": .string(entry.name), "bytes": .integer(entry.bytes),
                "createdAt": .string(entry.createdAt.iso8601), "isBeforeUpgrade": .bool(entry.isCopyBeforeUpgrade),
                "isVerified": finding.map { .bool($0 == nil) } ?? .null,
                "problem": finding.flatMap(\.self).map(JSON.string) ?? .null,
            ]
        }
        return [
            "backups": .array(backups), "work": state.work.map(Self.json) ?? .null, "written": .integer(state.written),
            "failure": state.failure.map(JSON.string) ?? .null, "kept": .integer(Int64(BackupDirectory.kept)),
        ]
    }

    private static func json(_ work: BackupDirectory.Work) -> JSON {
        switch work {
        case .make: ["kind": "make"]
        case .verify(let name): ["kind": "verify", "name": .string(name)]
        }
    }

    private func file(_ path: String, named name: String) throws(ServerError) -> HTTPResponse {
        let file = try OpenFile(path)
        return HTTPResponse(
            .ok,
            fields: [
                "content-type": "application/x-tar", "cache-control": "no-store",
                "content-disposition": "attachment; filename=\"\(name)\"",
            ],
            body: .stream(length: file.size) { writer in
                try await withTaskExecutorPreference(globalConcurrentExecutor) {
                    while let piece = try file.read(Self.pieceSize) { try await writer.write(piece) }
                }
            })
    }

    private func response(_ backup: Backup) -> HTTPResponse {
        HTTPResponse(
            .ok, fields: ["content-type": "application/x-tar", "cache-control": "no-store"],
            body: .stream { [source] writer in
                do {
                    // The backup is not written on an event loop, because event loops are needed for sending pushes.
                    try await withTaskExecutorPreference(globalConcurrentExecutor) {
                        try await backup.write { try await writer.write($0) }
                    }
                    await backup.snapshot.close()
                } catch {
                    await backup.snapshot.close()
                    // A command that writes the file in this process prints the error itself.
                    if !(writer is NewFile) { source.log.write(.warning, "A backup was cut short: \(error)") }
                    throw error
                }
                await source.record(backup)
            })
    }
}

/// A file that is read once, from its beginning to its end.
///
/// If the file is removed in the meantime, the rest of its content can still be read.
private final class OpenFile: Sendable {
    let size: Int
    private let descriptor: Int32

    init(_ path: String) throws(ServerError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else {
            throw ServerError("Cannot read \(path): \(String(cString: strerror(errno))).")
        }
        size = Int(status.st_size)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Reads the next piece.
    /// - Returns: At most `count` bytes; nil at the end of the file.
    func read(_ count: Int) throws(ServerError) -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: count)
        let got = piece.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, count) }
        guard got >= 0 else { throw ServerError("Cannot read the backup: \(String(cString: strerror(errno))).") }
        piece.removeLast(count - got)
        return piece.isEmpty ? nil : piece
    }
}
