import MartletModel
import Synchronization

/// When somebody is told that no backup was ever made: after a day of service, and then once a day.
struct BackupNotice: Hashable, Sendable {
    static let interval: Duration = .seconds(86_400)
    static let sentence =
        "No backup of this server was ever made: run 'martlet backup --directory DIR --keep 7' every day (the package has a "
        + "timer: systemctl enable --now martlet-backup.timer)."

    private var last: Timestamp?

    /// - Parameters:
    ///   - opened: When the database was opened first; nil if unknown.
    ///   - backup: When the last backup was made; nil if there was none.
    /// - Returns: Whether it is to be told now.
    mutating func isDue(opened: Timestamp?, backup: Timestamp?, at now: Timestamp) -> Bool {
        guard backup == nil, let opened, now >= opened + Self.interval else { return false }
        guard last.map({ now >= $0 + Self.interval }) ?? true else { return false }
        last = now
        return true
    }
}

/// The notice of one server.
final class SharedBackupNotice: Sendable {
    private let notice = Mutex(BackupNotice())

    func isDue(opened: Timestamp?, backup: Timestamp?, at now: Timestamp) -> Bool {
        notice.withLock { $0.isDue(opened: opened, backup: backup, at: now) }
    }
}
