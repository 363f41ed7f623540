import CMartletLinux
import Glibc

/// A non-blocking stream socket. It is closed when the value is destroyed.
struct Socket: ~Copyable {
    let descriptor: Int32

    /// The result of a read or a write.
    enum Transfer {
        case bytes(Int)
        case wouldBlock
        /// The peer closed its side of the connection.
        case ended
        case failed(NetworkError)
    }

    init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    init(_ family: SocketAddress.Family) throws(NetworkError) {
        let domain =
            switch family {
            case .ipv4: AF_INET
            case .ipv6: AF_INET6
            case .unix: AF_UNIX
            }
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(domain, type, 0)
        guard descriptor >= 0 else { throw .system("socket") }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Returns the descriptor and gives up ownership of it.
    consuming func release() -> Int32 {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    func setOption(_ level: Int32, _ name: Int32, to value: Int32 = 1) {
        var value = value
        setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sets or clears TCP_CORK (tcp(7)). While the option is set, the kernel holds back partial segments, so that many
    /// TLS records are sent in few segments.
    func setCorked(_ isCorked: Bool) {
        setOption(Int32(IPPROTO_TCP), TCP_CORK, to: isCorked ? 1 : 0)
    }

    func setNoDelay() {
        setOption(Int32(IPPROTO_TCP), TCP_NODELAY)
    }

    /// Starts to connect. The socket becomes writable once the attempt has succeeded or failed.
    func connect(to address: SocketAddress) throws(NetworkError) {
        let result = address.withPointer { Glibc.connect(descriptor, $0, $1) }
        guard result != 0, errno != EINPROGRESS else { return }
        throw .system("connect")
    }

    /// Returns the error of a failed connection attempt; nil if the attempt succeeded.
    func pendingError() -> NetworkError? {
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        return code == 0 ? nil : .system("connect", code: code)
    }

    /// The time since the kernel last received data from the peer, in whole milliseconds; zero for a Unix socket.
    var silence: Duration {
        var information = tcp_info()
        var length = socklen_t(MemoryLayout<tcp_info>.size)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_INFO, &information, &length) == 0 else { return .zero }
        return .milliseconds(Int64(information.tcpi_last_data_recv))
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 { return .bytes(count) }
        return count == 0 ? .ended : Self.failure("recv")
    }

    /// Reads bytes without removing them from the socket.
    func peek(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_PEEK))
        if count > 0 { return .bytes(count) }
        return count == 0 ? .ended : Self.failure("recv")
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        let count = send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        return count >= 0 ? .bytes(count) : Self.failure("send")
    }

    func shutdownWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Makes `close` send a reset and discard unsent data.
    func abandon() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    private static func failure(_ call: String) -> Transfer {
        errno == EAGAIN || errno == EINTR ? .wouldBlock : .failed(.system(call))
    }
}
