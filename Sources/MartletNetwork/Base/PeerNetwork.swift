/// The network to which the limits for connections and for the bodies of unidentified senders apply: an IPv4 address,
/// or the /64 of an IPv6 address, because the owner of one address in a /64 usually owns all of its addresses.
public enum PeerNetwork: Hashable, Sendable {
    /// This machine, with its proxies, tests and administrators, or a trusted proxy elsewhere. The limits per network
    /// do not apply to it.
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
