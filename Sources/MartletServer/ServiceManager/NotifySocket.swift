import Glibc

/// The socket on which the service manager receives notifications.
final class NotifySocket: Sendable {
    private let descriptor: Int32
    private let path: [UInt8]

    /// Opens a socket to the service manager.
    /// - Parameter path: A path, or `@` followed by a name in Linux's abstract namespace.
    /// - Returns: nil if `path` has neither form or is too long for a socket address, or if no socket can be created.
    init?(_ path: String) {
        var bytes = Array(path.utf8)
        guard let first = bytes.first, (2...107).contains(bytes.count) else { return nil }
        switch first {
        case UInt8(ascii: "/"): break
        case UInt8(ascii: "@"): bytes[0] = 0
        default: return nil
        }
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        self.path = bytes
    }

    deinit { close(descriptor) }

    /// Sends a datagram. Errors are ignored, because the server works without a service manager.
    func send(_ text: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let bytes = Array(text.utf8)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, length)
            }
        }
    }
}
