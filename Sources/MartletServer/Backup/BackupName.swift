import Glibc
public import MartletModel

/// The name of a backup in a directory of backups: `martlet-2026-11-23T02:00:00.000Z.backup`. Names sort by their time.
public struct BackupName: Hashable, Sendable, CustomStringConvertible {
    private static let (prefix, suffix) = ("martlet-", ".backup")

    public let description: String

    public init(_ time: Timestamp) {
        description = Self.prefix + time.iso8601 + Self.suffix
    }

    /// Parses the name of a file; nil if it is not the name of a backup.
    init?(_ text: String) {
        guard Self.isBackup(text) else { return nil }
        description = text
    }

    /// The time when the backup was made, taken from the name; nil if the name contains no valid time.
    var time: Timestamp? {
        Timestamp(iso8601: String(description.dropFirst(Self.prefix.count).dropLast(Self.suffix.count)))
    }

    /// Returns the names of the backups to remove so that only the newest `count` are kept.
    ///
    /// Names in any format other than that of a backup are ignored.
    static func expired(_ names: [String], keeping count: Int) -> [String] {
        Array(names.filter(isBackup).sorted().dropLast(count))
    }

    private static func isBackup(_ name: String) -> Bool {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.count > prefix.count + suffix.count else {
            return false
        }
        let text = String(name.dropFirst(prefix.count).dropLast(suffix.count))
        return Timestamp(iso8601: text)?.iso8601 == text
    }

    /// Removes all but the newest `count` backups of a directory.
    public static func removeOlder(in directory: String, keeping count: Int) throws(ServerError) {
        for name in expired(try names(in: directory), keeping: count) {
            guard unlink("\(directory)/\(name)") == 0 else { throw failure("remove", "\(directory)/\(name)") }
        }
    }

    /// Removes incomplete backups that killed processes have left in a directory.
    ///
    /// The name of such a file consists of the name of a backup, a dot, and the id of the process that wrote the file.
    /// The file is removed if that process no longer runs and the file is not locked. If another process has that id
    /// now, the file is kept until that process has ended. A file that cannot be removed is left in place, because it
    /// does not prevent further backups.
    public static func removeAbandoned(in directory: String) throws(ServerError) {
        for name in try names(in: directory) {
            guard let process = process(writing: name), kill(process, 0) != 0, errno == ESRCH else { continue }
            let path = "\(directory)/\(name)"
            let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard file >= 0 else { continue }
            if flock(file, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
            close(file)
        }
    }

    /// Returns the id of the writing process, taken from the name of an incomplete backup; nil for other files.
    private static func process(writing name: String) -> pid_t? {
        guard let dot = name.lastIndex(of: "."), isBackup(String(name[..<dot])) else { return nil }
        let number = name[name.index(after: dot)...]
        guard number.allSatisfy({ $0.isASCII && $0.isNumber }), let process = pid_t(number), process > 0 else {
            return nil
        }
        return process
    }

    /// Returns the names of all entries of a directory, including `.` and `..`.
    static func names(in directory: String) throws(ServerError) -> [String] {
        guard let stream = opendir(directory) else { throw failure("list", directory) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            names.append(name)
        }
        return names
    }

    private static func failure(_ verb: String, _ path: String) -> ServerError {
        ServerError("Cannot \(verb) \(path): \(String(cString: strerror(errno))).")
    }
}
