/// What the shares of strangers are counted by: an IPv4 address, or the /64 of an IPv6 address, because anyone who has one
/// address of such a network has all of them.
public enum PeerNetwork: Hashable, Sendable {
    /// This machine: proxies, tests and administrators. It has no share of its own and may use everything.
    case local
    case ipv4(UInt32)
    case ipv6(UInt64)

    /// - Parameter countsLoopback: Whether loopback addresses have shares like all others.
    public init(_ address: SocketAddress, countsLoopback: Bool = false) {
        let bytes = Array(address.rawAddress)
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        let isMapped = bytes.count == 16 && bytes.starts(with: mapped)
        let four = isMapped ? bytes[12...] : bytes[...]
        let isLoopback = address.isLoopback || (isMapped && four.first == 127)
        if address.family == .unix || bytes.isEmpty || (isLoopback && !countsLoopback) {
            self = .local
        } else if four.count == 4 {
            self = .ipv4(four.reduce(0) { $0 << 8 | UInt32($1) })
        } else {
            self = .ipv6(bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        }
    }
}
