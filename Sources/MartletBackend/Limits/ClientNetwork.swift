import MartletHTTP

/// The network that a client is in, by so many of the first bits of its address.
struct ClientNetwork: Hashable, Sendable, CustomStringConvertible {
    private let network: IPNetwork?
    /// The address where it is not an IP address.
    private let name: String

    /// - Parameter address: In text form (RFC 4291, section 2.2), also with a zone; an IPv4-mapped one counts as IPv4.
    init(_ address: String, ipv4Bits: Int, ipv6Bits: Int) {
        network = IPAddress(address).map { IPNetwork($0, bits: $0.isIPv4 ? ipv4Bits : ipv6Bits) }
        name = network == nil ? address : ""
    }

    var description: String { network?.description ?? name }
}
