import Glibc

/// Lets a process that runs as root work on a data directory as the directory's owner, until `end` is called.
///
/// The user changes for all threads of the process; the C library ensures this. Only the effective user changes, so
/// that `end` can restore root. After that, the process can complete files that belong to root, such as a backup.
public struct AssumedOwner: Sendable {
    private let groups: [gid_t]
    private let group: gid_t

    /// Makes the owner of a directory the effective user.
    /// - Returns: nil if the process does not run as root, or if the directory is missing or belongs to root.
    /// - Throws: `ServerError` if the process cannot become the owner. In this case, nothing has changed.
    public init?(of path: String) throws(ServerError) {
        guard let owner = DirectoryOwner(of: path), owner.isForeignRoot(geteuid()) else { return nil }
        var groups = [gid_t](repeating: 0, count: Int(max(getgroups(0, nil), 0)))
        let count = getgroups(Int32(groups.count), &groups)
        guard count >= 0 else { throw Self.failure(owner) }
        self.groups = Array(groups.prefix(Int(count)))
        group = getegid()
        guard setgroups(1, [owner.group]) == 0, setegid(owner.group) == 0, seteuid(owner.user) == 0 else {
            let failure = Self.failure(owner)
            end()
            throw failure
        }
    }

    /// Restores root as the effective user, with root's groups.
    public func end() {
        seteuid(0)
        setegid(group)
        setgroups(groups.count, groups)
    }

    private static func failure(_ owner: DirectoryOwner) -> ServerError {
        ServerError("Cannot work as \(owner.name): \(String(cString: strerror(errno))). Run this as that user.")
    }
}
