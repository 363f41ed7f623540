/// The unit to which the limits per network apply: one IPv4 address, or one /64 of IPv6 addresses.
///
/// The limits are those for connections and for the bodies of unidentified senders. IPv6 addresses are grouped because
/// the owner of one address in a /64 usually owns all addresses in it.
public enum PeerNetwork: Hashable, Sendable {
    /// This machine (local proxies, tests, administrators), or a trusted proxy on another machine. The limits per
    /// network do not apply.
    case local
    case ipv4(UInt32)
    case ipv6(UInt64)

    /// Determines the network of an address.
    /// - Parameter countsLoopback: Whether the limits per network also apply to loopback addresses.
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
