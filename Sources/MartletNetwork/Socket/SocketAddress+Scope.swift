import MartletHTTP

extension SocketAddress {
    /// True for an address of the public internet according to the registries of special-purpose addresses (RFC 6890
    /// and its updates). False for loopback, private, multicast and documentation addresses, and for an IPv6 address
    /// that embeds a non-public IPv4 address.
    public var isPublic: Bool {
        switch family {
        case .ipv4: Self.isPublic(ipv4: rawAddress)
        case .ipv6: Self.isPublic(ipv6: rawAddress)
        case .unix: false
        }
    }

    private static func isPublic(ipv4 address: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(address)
        guard bytes.count == 4 else { return false }
        let number = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return !specialIPv4.contains { number >> (32 - $0.length) == $0.prefix >> (32 - $0.length) }
    }

    private static func isPublic(ipv6 address: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(address)
        guard bytes.count == 16 else { return false }
        // NAT64 prefix (RFC 6052): the address is public if the embedded IPv4 address is public.
        if bytes.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) { return isPublic(ipv4: bytes[12...]) }
        // All global unicast addresses are in 2000::/3.
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        switch (bytes[0], bytes[1]) {
        // Protocol assignments and tunnels (2001::/23) and documentation (2001:db8::/32) are not public.
        case (0x20, 0x01): return bytes[2] > 1 && !(bytes[2] == 0x0D && bytes[3] == 0xB8)
        // 6to4 tunnels to an IPv4 address (2002::/16) are not public.
        case (0x20, 0x02): return false
        // Documentation (3fff::/20) is not public.
        case (0x3F, 0xFF): return bytes[2] & 0xF0 != 0
        default: return true
        }
    }

    private static let specialIPv4: [(prefix: UInt32, length: UInt32)] = [
        // "This network", private (10/8, 172.16/12, 192.168/16), shared (100.64/10), loopback, link-local.
        (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16),
        (0xAC10_0000, 12), (0xC0A8_0000, 16),
        // Protocol assignments, documentation, the deprecated 6to4 relay, benchmarks.
        (0xC000_0000, 24), (0xC000_0200, 24), (0xC058_6300, 24), (0xC612_0000, 15), (0xC633_6400, 24),
        (0xCB00_7100, 24),
        // Multicast, reserved, broadcast: 224.0.0.0 and above.
        (0xE000_0000, 3),
    ]
}

extension TransportSettings.Addresses {
    /// Returns true if a connection with this scheme may be made to the address.
    func allow(_ address: SocketAddress, _ scheme: HTTPOrigin.Scheme) -> Bool {
        switch self {
        case .any: true
        case .publicOnly: address.isPublic && scheme.isUsual(address.port)
        case .loopbackOnly: address.isLoopback
        case .publicOrLoopback: address.isLoopback || (address.isPublic && scheme.isUsual(address.port))
        }
    }
}
