import MartletHTTP

/// The network of a client, given by the first bits of its address.
struct ClientNetwork: Hashable, Sendable, CustomStringConvertible {
    private let network: IPNetwork?
    /// The address as text if it is not an IP address; otherwise empty.
    private let name: String

    /// - Parameter address: An address in text form (RFC 4291, section 2.2), which may have a zone. An IPv4-mapped
    ///   address counts as IPv4.
    init(_ address: String, ipv4Bits: Int, ipv6Bits: Int) {
        network = IPAddress(address).map { IPNetwork($0, bits: $0.isIPv4 ? ipv4Bits : ipv6Bits) }
        name = network == nil ? address : ""
    }

    var description: String { network?.description ?? name }
}
