import Glibc

/// Who may connect to a Unix socket.
public enum UnixSocketAccess: Hashable, Sendable {
    /// The user of this process and root: the file has mode 0600, and each peer's user id is checked.
    case owner
    /// Also the members of the group of this process: the file has mode 0660.
    case group

    var mode: mode_t { self == .owner ? 0o600 : 0o660 }
}
