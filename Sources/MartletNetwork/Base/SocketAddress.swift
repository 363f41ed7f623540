import CMartletLinux
import Glibc

/// The address that a socket listens on or connects to.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    public enum Family: Hashable, Sendable {
        case ipv4
        case ipv6
        case unix
    }

    public let family: Family
    /// The bytes of a `sockaddr_in`, `sockaddr_in6` or `sockaddr_un`.
    private let bytes: [UInt8]

    /// Creates an address from the text form of an IPv4 or IPv6 address, without brackets; nil if the text is something
    /// else, such as a host name.
    public init?(address: String, port: UInt16) {
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if inet_pton(AF_INET, address, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            family = .ipv4
            bytes = withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, address, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            family = .ipv6
            bytes = withUnsafeBytes(of: six) { Array($0) }
        } else {
            return nil
        }
    }

    /// Creates the address of a Unix-domain socket; nil if the path is empty, contains a NUL, or is longer than the
    /// system allows (107 bytes).
    public init?(unixPath path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard !path.isEmpty, path.utf8.count <= room, !path.utf8.contains(0) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        family = .unix
        bytes = withUnsafeBytes(of: address) { Array($0) }
    }

    init?(_ pointer: UnsafePointer<sockaddr>, length: socklen_t) {
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET: family = .ipv4
        case AF_INET6: family = .ipv6
        case AF_UNIX: family = .unix
        default: return nil
        }
        bytes = Array(UnsafeRawBufferPointer(start: pointer, count: Int(length)))
    }

    /// Creates an address from the result of a system call such as `getsockname`.
    init?(filledBy call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let address = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> SocketAddress? in
                call(pointer, &length) == 0 ? SocketAddress(UnsafePointer(pointer), length: length) : nil
            }
        }
        guard let address else { return nil }
        self = address
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        // The bytes are copied into a sockaddr_storage to get the alignment that the system's types require.
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
        }
    }

    /// The port; 0 for a Unix socket.
    public var port: UInt16 {
        // In an IPv4 and in an IPv6 socket address, the port is stored after the two bytes of the address family.
        family == .unix || bytes.count < 4 ? 0 : UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    }

    /// The 4 or 16 bytes of the IP address, most significant byte first; empty for a Unix socket.
    var rawAddress: ArraySlice<UInt8> {
        switch family {
        case .ipv4: bytes.dropFirst(4).prefix(4)
        case .ipv6: bytes.dropFirst(8).prefix(16)
        case .unix: []
        }
    }

    /// The address without its port; empty for a Unix socket.
    public var host: String {
        let (family, offset, length) = family == .ipv4 ? (AF_INET, 4, 4) : (AF_INET6, 8, 16)
        guard self.family != .unix, bytes.count >= offset + length else { return "" }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        bytes.withUnsafeBytes { bytes in
            _ = inet_ntop(family, bytes.baseAddress?.advanced(by: offset), &text, socklen_t(text.count))
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// True if this is a loopback address (127.0.0.0/8, ::1) or a Unix socket.
    public var isLoopback: Bool {
        switch family {
        case .ipv4: bytes.count > 4 && bytes[4] == 127
        case .ipv6: host == "::1"
        case .unix: true
        }
    }

    public var description: String {
        switch family {
        case .ipv4: "\(host):\(port)"
        case .ipv6: "[\(host)]:\(port)"
        case .unix: "unix socket"
        }
    }
}
