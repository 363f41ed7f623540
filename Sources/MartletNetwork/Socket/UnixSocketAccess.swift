import Glibc

/// The users that may connect to a Unix socket.
public enum UnixSocketAccess: Hashable, Sendable {
    /// Only this process's user and root. The file has mode 0600, and each peer's user id is checked.
    case owner
    /// This process's user, root, and the members of this process's group.
    ///
    /// The file has mode 0660.
    case group

    var mode: mode_t { self == .owner ? 0o600 : 0o660 }
}
