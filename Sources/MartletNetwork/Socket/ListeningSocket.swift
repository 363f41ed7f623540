import CMartletLinux
import Glibc

/// A socket that accepts connections.
struct ListeningSocket: ~Copyable {
    private let socket: Socket
    let address: SocketAddress
    /// The path of a Unix socket. The file is removed when this value is destroyed.
    private let path: String?
    private let access: UnixSocketAccess

    /// The result of accepting a connection.
    enum Accepted: ~Copyable {
        case connection(Socket, peer: SocketAddress)
        case none
        /// The connection to a Unix socket was refused because it came from another user.
        case refused
        /// The system is out of descriptors or memory. The connection stays in the accept queue.
        case exhausted
    }

    init(tcp wanted: SocketAddress) throws(NetworkError) {
        let socket = try Socket(wanted.family)
        socket.setOption(SOL_SOCKET, SO_REUSEADDR)
        if wanted.family == .ipv6 { socket.setOption(Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
        try Self.bind(socket, wanted)
        try Self.listen(socket)
        guard let address = SocketAddress(filledBy: { getsockname(socket.descriptor, $0, $1) })
        else { throw .system("getsockname") }
        self.address = address
        path = nil
        access = .owner
        self.socket = socket
    }

    /// Listens on a path. Replaces a socket file that a dead process has left. Throws if another process accepts
    /// connections on the socket.
    init(unixPath path: String, access: UnixSocketAccess) throws(NetworkError) {
        guard let address = SocketAddress(unixPath: path) else {
            throw NetworkError(.configuration, "the path of a Unix socket has 1 to 107 bytes: \(path)")
        }
        let socket = try Socket(.unix)
        try Self.removeStale(path, address)
        // Sets the mode before `bind` creates the file. With `chmod` alone, other users could open the file for a short
        // time.
        guard fchmod(socket.descriptor, access.mode) == 0 else { throw .system("fchmod") }
        try Self.bind(socket, address)
        guard chmod(path, access.mode) == 0 else { throw .system("chmod \(path)") }
        try Self.listen(socket)
        self.address = address
        self.path = path
        self.access = access
        self.socket = socket
    }

    deinit {
        if let path { unlink(path) }
    }

    var descriptor: Int32 { socket.descriptor }

    func accept() -> Accepted {
        var descriptor: Int32 = -1
        let peer = SocketAddress { pointer, length in
            descriptor = martlet_accept(socket.descriptor, pointer, &length.pointee)
            return descriptor >= 0 ? 0 : -1
        }
        guard descriptor >= 0 else {
            return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) ? .exhausted : .none
        }
        let connection = Socket(owning: descriptor)
        if address.family != .unix {
            connection.setNoDelay()
        } else if access == .owner, !Self.mayConnect(user: martlet_peer_user(descriptor)) {
            return .refused
        }
        return .connection(connection, peer: peer ?? address)
    }

    /// Returns true if a user may connect to a Unix socket with owner access.
    ///
    /// Only root and the user of this process may connect, whatever the mode of the file is.
    /// - Parameter user: A user id; -1 if unknown.
    static func mayConnect(user: Int64) -> Bool {
        user == 0 || user == Int64(geteuid())
    }

    private static func bind(_ socket: borrowing Socket, _ address: SocketAddress) throws(NetworkError) {
        let descriptor = socket.descriptor
        guard address.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
            throw .system("listening on \(address)")
        }
    }

    private static func listen(_ socket: borrowing Socket) throws(NetworkError) {
        guard Glibc.listen(socket.descriptor, SOMAXCONN) == 0 else { throw .system("listen") }
    }

    private static func removeStale(_ path: String, _ address: SocketAddress) throws(NetworkError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw NetworkError(.configuration, "\(path) exists and is not a socket")
        }
        let probe = try Socket(.unix)
        let descriptor = probe.descriptor
        let result = address.withPointer { Glibc.connect(descriptor, $0, $1) }
        guard result != 0, errno == ECONNREFUSED else {
            throw NetworkError(.configuration, "another process is listening on \(path)", code: EADDRINUSE)
        }
        unlink(path)
    }
}
