/// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address is stored as the IPv4 address.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The four or sixteen bytes of the address, in network order.
    public let bytes: [UInt8]

    private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]

    /// Creates an address from its bytes, in network order; nil unless there are four or sixteen bytes.
    /// - Parameter bytes: Four or sixteen bytes.
    public init?(bytes: [UInt8]) {
        switch bytes.count {
        case 4: self.bytes = bytes
        case 16: self.bytes = bytes.starts(with: Self.mappedPrefix) ? Array(bytes[12...]) : bytes
        default: return nil
        }
    }

    /// Parses an address; nil if the text is not an address.
    /// - Parameter text: An address in the form of RFC 4291, section 2.2, without brackets or port; a zone is ignored.
    public init?(_ text: some StringProtocol) {
        let text = text.prefix { $0 != "%" }
        guard let bytes = Self.ipv4(text) ?? Self.ipv6(text) else { return nil }
        self.init(bytes: bytes)
    }

    public var isIPv4: Bool { bytes.count == 4 }

    /// The address as text: IPv4 with dots; IPv6 as eight groups without leading zeros, never shortened with `::`.
    public var description: String {
        if isIPv4 { return bytes.map(String.init).joined(separator: ".") }
        let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        return groups.map { String($0, radix: 16) }.joined(separator: ":")
    }

    private static func ipv4(_ text: some StringProtocol) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts.allSatisfy({ $0.utf8.count <= 3 && $0.utf8.allSatisfy(isDigit) }) else {
            return nil
        }
        let bytes = parts.compactMap { UInt8($0) }
        return bytes.count == 4 ? bytes : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func ipv6(_ text: some StringProtocol) -> [UInt8]? {
        let text = Substring(text)
        guard let gap = text.firstRange(of: "::") else {
            return groups(text).flatMap { $0.count == 16 ? $0 : nil }
        }
        guard let head = groups(text[..<gap.lowerBound]), let tail = groups(text[gap.upperBound...]),
            head.count + tail.count <= 14
        else { return nil }
        return head + Array(repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    /// Parses groups separated by colons into bytes. The last group may be an IPv4 address.
    private static func groups(_ text: Substring) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var bytes: [UInt8] = []
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, let ipv4 = ipv4(part) {
                bytes += ipv4
            } else if part.utf8.count <= 4, part.utf8.first != 0x2B, let group = UInt16(part, radix: 16) {
                bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
            } else {
                return nil
            }
        }
        return bytes
    }
}

/// A network: all addresses with the same prefix (CIDR, RFC 4632).
public struct IPNetwork: Hashable, Sendable, CustomStringConvertible {
    /// The network's address, with zeros after the prefix.
    public let address: IPAddress
    /// The length of the prefix, in bits.
    public let bits: Int

    /// Creates the network that contains an address.
    /// - Parameter bits: The length of the prefix; values outside the valid range are clamped.
    public init(_ address: IPAddress, bits: Int) {
        self.bits = max(0, min(bits, address.bytes.count * 8))
        let masked = address.bytes.enumerated().map { [bits = self.bits] index, byte in
            byte & UInt8(truncatingIfNeeded: 0xFF00 >> max(0, min(8, bits - 8 * index)))
        }
        self.address = IPAddress(bytes: masked) ?? address
    }

    /// Parses a network; nil if the text is not a network.
    /// - Parameter text: An address, optionally followed by a slash and a prefix length.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(first) else { return nil }
        guard parts.count == 2 else {
            self.init(address, bits: address.bytes.count * 8)
            return
        }
        guard parts[1].utf8.count <= 3, let bits = Int(parts[1]), (0...address.bytes.count * 8).contains(bits) else {
            return nil
        }
        self.init(address, bits: bits)
    }

    public func contains(_ other: IPAddress) -> Bool {
        other.bytes.count == address.bytes.count && IPNetwork(other, bits: bits).address == address
    }

    public var description: String { "\(address)/\(bits)" }
}
