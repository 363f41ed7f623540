public import Glibc

/// The user and the group that own a data directory.
public struct DirectoryOwner: Hashable, Sendable {
    public let user: uid_t
    public let group: gid_t

    public init(user: uid_t, group: gid_t) {
        self.user = user
        self.group = group
    }

    /// Reads the owner of a directory; nil if the directory does not exist or cannot be examined.
    public init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(user: status.st_uid, group: status.st_gid)
    }

    /// Returns whether a process with this user id runs as root on a directory of another user.
    ///
    /// Such a process must not create files in the directory. The service runs as the directory's owner, and cannot use
    /// files that belong to root.
    public func isForeignRoot(_ process: uid_t) -> Bool { process == 0 && user != 0 }

    /// The user's name, or the user id if there is no name.
    public var name: String {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16 << 10) { buffer in
            guard getpwuid_r(user, &entry, buffer.baseAddress!, buffer.count, &found) == 0, found != nil else {
                return String(user)
            }
            return String(cString: entry.pw_name)
        }
    }

    /// Returns why a process with this user id must not serve `path`; nil if it may.
    public func refusalToServe(_ path: String, as process: uid_t) -> ServerError? {
        guard isForeignRoot(process) else { return nil }
        return ServerError(
            "'\(path)' belongs to \(name): serve as that user (systemctl start martlet), not as root.")
    }

    /// Returns the error for a user other than the owner, who may not administer `path`.
    /// - Parameter hasGroupSocket: Whether the members of the owner's group may use the admin socket.
    public func refusalToAdminister(_ path: String, hasGroupSocket: Bool) -> ServerError {
        let users = user == 0 ? "root" : "root and \(name)"
        let way = hasGroupSocket ? ", or join the group \(groupName)" : ""
        return ServerError("Only \(users) may administer \(path): use sudo\(way).")
    }

    /// Returns advice on a new data directory that belongs to root; nil if it belongs to another user.
    public func advice(onNew path: String) -> String? {
        guard user == 0 else { return nil }
        return "\(path) belongs to root: a service that runs as another user cannot use it (chown -R martlet: \(path))."
    }

    /// Returns the entries of a data directory that belong to another user. Entries of subdirectories are not included.
    func foreignFiles(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            var status = stat()
            guard name != ".", name != "..", lstat("\(path)/\(name)", &status) == 0 else { continue }
            if status.st_uid != user { names.append(name) }
        }
        return names.sorted()
    }

    /// The group's name, or the group id if there is no name.
    private var groupName: String {
        var entry = Glibc.group()
        var found: UnsafeMutablePointer<Glibc.group>?
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16 << 10) { buffer in
            guard getgrgid_r(group, &entry, buffer.baseAddress!, buffer.count, &found) == 0, found != nil else {
                return String(group)
            }
            return String(cString: entry.gr_name)
        }
    }
}
