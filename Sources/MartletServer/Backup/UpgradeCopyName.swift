import MartletStorage

/// Decides which of the copies that were made before upgrades are kept.
enum UpgradeCopyName {
    /// The number of copies to keep, including the newest one.
    static let count = 2

    /// Returns the names of the copies to remove, so that only the newest `count` are kept.
    ///
    /// Names in any format other than that of a copy are ignored.
    /// - Parameter files: The names of files, each with the time of its last change in nanoseconds since 1970.
    static func expired(_ files: [String: Int64]) -> [String] {
        let copies = files.filter { name, _ in isCopy(name) }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        return copies.dropLast(count).map(\.key)
    }

    static func isCopy(_ name: String) -> Bool {
        let (prefix, suffix) = ("before-", ".backup")
        guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.count > prefix.count + suffix.count else {
            return false
        }
        return Upgrade.copyName(before: String(name.dropFirst(prefix.count).dropLast(suffix.count))) == name
    }
}
