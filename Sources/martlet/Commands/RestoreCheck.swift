import Glibc
import MartletHTTP
import MartletModel
import MartletServer

/// `martlet restore FILE --check`: restores a backup to a temporary directory, checks the result and removes it.
struct RestoreCheck {
    private let invocation: Invocation

    init(_ invocation: Invocation) {
        self.invocation = invocation
    }

    /// Restores and checks the backup.
    /// - Throws: `ServerError` if the backup cannot be restored, or if a server could not use the restored data.
    func run() async throws {
        let key = try invocation["key-file"].map { try TextFile.read($0, limit: 65_536) }
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/var/tmp"
        // mkdtemp replaces the last six characters with random ones, and makes the directory accessible only to its
        // owner.
        var template = Array("\(parent)/martlet-check-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ServerError("Cannot make a directory in \(parent): \(String(cString: strerror(errno))).")
        }
        let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { Self.remove(directory) }
        let results = try await Signals.cleaningUp {
            // The removal is repeated until the directory is gone, because the restore may still be writing files.
            repeat { Self.remove(directory) } while access(directory, F_OK) == 0
        } while: {
            try await examine("\(directory)/data", key)
        }
        try CheckCommand.report(results, invocation)
    }

    private func examine(_ data: String, _ key: [UInt8]?) async throws -> [CheckResult] {
        let display = ProgressDisplay(.bytes)
        defer { display.end() }
        let summary = try BackupFile.restore(invocation.operand("FILE"), into: data) {
            display.show($0, of: $1 > 0 ? $1 : nil)
        }
        display.end()
        var results = [
            CheckResult(.ok, "backup", "The backup is complete: the server at \(summary.createdAt.iso8601).")
        ]
        var configuration = ServerConfiguration(dataDirectory: data)
        configuration.diskReserve = 0
        let check = ServerCheck(configuration)
        results += check.integrity() + check.database()
        guard results.allSatisfy({ $0.level != .problem }) else { return results }
        if let key { try Self.write(key, to: "\(data)/secret.key") }
        guard summary.holdsKeys || key != nil || KeyEnvironment.givesKeys else {
            return results + [
                CheckResult(
                    .warning, "credentials",
                    "The backup has no keys, so its secrets were not examined: give --key-file secret.key.")
            ]
        }
        let administration = Administration(offline: data)
        results += await CheckCommand.credentials(check, administration)
        guard results.allSatisfy({ $0.level != .problem }) else { return results }
        let hubs = try await administration.call(.get, "/hubs").array?.compactMap { $0["name"]?.string } ?? []
        for hub in hubs {
            let audience = try await administration.call(.get, "/hubs/\(segment(hub))/audience")
            let registrations = audience["registrations"]?.integer ?? 0
            results.append(
                CheckResult(.ok, "content", "The hub '\(hub)' has \(registrations.counted("registration"))."))
        }
        var users: Int64 = 0
        try await UserCommands.eachPage(administration) { users += Int64($0.count) }
        let content = "It has \(Int64(hubs.count).counted("hub")) and \(users.counted("user"))."
        return results + [CheckResult(.ok, "content", content)]
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        // The backup may contain a key, but the key given by the user takes precedence.
        unlink(path)
        let file = try NewFile(path)
        try file.write(bytes)
        try file.complete()
    }

    /// Removes a directory with all its contents, without following links.
    private static func remove(_ path: String) {
        if let entries = opendir(path) {
            while let entry = readdir(entries) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard name != ".", name != ".." else { continue }
                let inner = "\(path)/\(name)"
                if entry.pointee.d_type == UInt8(DT_DIR) { remove(inner) } else { unlink(inner) }
            }
            closedir(entries)
        }
        rmdir(path)
    }
}
