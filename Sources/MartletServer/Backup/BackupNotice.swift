import MartletModel
import Synchronization

/// Decides when to report that no backup was ever made.
///
/// The report is made after one day of operation, and then once a day.
struct BackupNotice: Hashable, Sendable {
    static let interval: Duration = .seconds(86_400)
    static let sentence =
        "No backup of this server was ever made: run 'martlet backup --directory DIR --keep 7' every day (the package has a "
        + "timer: systemctl enable --now martlet-backup.timer)."

    private var last: Timestamp?

    /// Returns whether the report is due now. If so, records that it has been made.
    /// - Parameters:
    ///   - opened: When the database was first opened; nil if unknown.
    ///   - backup: When the last backup was made; nil if there is none.
    mutating func isDue(opened: Timestamp?, backup: Timestamp?, at now: Timestamp) -> Bool {
        guard backup == nil, let opened, now >= opened + Self.interval else { return false }
        guard last.map({ now >= $0 + Self.interval }) ?? true else { return false }
        last = now
        return true
    }
}

/// The backup notice of one server, shared between threads.
final class SharedBackupNotice: Sendable {
    private let notice = Mutex(BackupNotice())

    func isDue(opened: Timestamp?, backup: Timestamp?, at now: Timestamp) -> Bool {
        notice.withLock { $0.isDue(opened: opened, backup: backup, at: now) }
    }
}
