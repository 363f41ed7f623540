import MartletModel

/// The versions of this program that have opened a database, oldest first.
struct VersionHistory: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        var at: Timestamp
        var program: ProgramVersion
        /// The number of migration steps that the version knows.
        var schema: Int
    }

    var entries: [Entry]

    /// Returns true if opening the database with this program adds an entry. Only changes are recorded, not every
    /// start.
    func lacks(_ program: ProgramVersion, schema: Int) -> Bool {
        entries.last.map { $0.program != program || $0.schema != schema } ?? true
    }

    /// Returns true if an earlier upgrade by the same version may have begun and not been completed.
    ///
    /// A version is recorded before the first step of its upgrade, so the last record shows an interrupted upgrade. A
    /// database without a record was last opened by a version that did not make records, so an interrupted upgrade
    /// cannot be excluded.
    /// - Parameter done: The number of steps that the database has had.
    func mayBeInterrupted(_ program: ProgramVersion, done: Int) -> Bool {
        entries.last.map { $0.program.version == program.version && $0.schema > done } ?? true
    }

    /// Returns the version that upgraded the database beyond this number of steps; nil if no version did. A copy of the
    /// database was made before that upgrade.
    func upgrade(beyond schema: Int) -> String? {
        let first = entries.lastIndex { $0.schema <= schema }.map { $0 + 1 } ?? 0
        return first < entries.count ? entries[first].program.version : nil
    }

    /// Returns the reason why this program does not open the database, and what to do.
    /// - Parameters:
    ///   - schema: The number of migration steps that this program knows.
    ///   - copy: Returns the path of the copy that was made before the upgrade by a version; nil if there is none.
    func refusal(of program: ProgramVersion, schema: Int, copy: (String) -> String?) -> String {
        guard let last = entries.last, let version = upgrade(beyond: schema) else {
            return "The database was written by a newer version of this program; run that version, or restore a backup."
        }
        let present = program.version.isEmpty ? "this version is older" : "this is \(program.version)"
        return "The database was last written by Martlet \(last.program.version) on \(last.at.iso8601.prefix(10)); "
            + "\(present). Run \(last.program.version), or restore \(copy(version) ?? "a backup") and lose all later changes."
    }
}
