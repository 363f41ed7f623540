/// The network that an address is in, by so many of its first bits.
struct ClientNetwork: Hashable, Sendable, CustomStringConvertible {
    /// In network order, with zeros after the prefix; empty where the address is not an IP address.
    private let bytes: [UInt8]
    private let bits: Int
    /// The address where it is not an IP address.
    private let name: String

    /// - Parameter address: In text form (RFC 4291, section 2.2), also with a zone; an IPv4-mapped one counts as IPv4.
    init(_ address: String, ipv4Bits: Int, ipv6Bits: Int) {
        let text = address.prefix { $0 != "%" }
        var bytes = Self.ipv4(text) ?? Self.ipv6(text) ?? []
        if bytes.count == 16, bytes.starts(with: Self.mappedPrefix) { bytes = Array(bytes[12...]) }
        let bits = bytes.count == 4 ? ipv4Bits : ipv6Bits
        self.bytes = zip(0..., bytes).map { $1 & Self.mask(ofByte: $0, bits: bits) }
        self.bits = bits
        name = bytes.isEmpty ? address : ""
    }

    private static let mappedPrefix: [UInt8] = Array(repeating: 0, count: 10) + [0xFF, 0xFF]

    var description: String {
        if bytes.isEmpty { return name }
        if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") + "/\(bits)" }
        let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        return groups.map { String($0, radix: 16) }.joined(separator: ":") + "/\(bits)"
    }

    private static func mask(ofByte index: Int, bits: Int) -> UInt8 {
        let kept = max(0, min(8, bits - 8 * index))
        return UInt8(truncatingIfNeeded: 0xFF00 >> kept)
    }

    private static func ipv4(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { UInt8($0) }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    private static func ipv6(_ text: Substring) -> [UInt8]? {
        guard let gap = text.firstRange(of: "::") else {
            return groups(text).flatMap { $0.count == 16 ? $0 : nil }
        }
        guard let head = groups(text[..<gap.lowerBound]), let tail = groups(text[gap.upperBound...]),
            head.count + tail.count <= 14
        else { return nil }
        return head + Array(repeating: 0, count: 16 - head.count - tail.count) + tail
    }

    /// The bytes of groups that colons separate, of which the last may be an IPv4 address.
    private static func groups(_ text: Substring) -> [UInt8]? {
        guard !text.isEmpty else { return [] }
        var bytes: [UInt8] = []
        for part in text.split(separator: ":", omittingEmptySubsequences: false) {
            if let ipv4 = ipv4(part) {
                bytes += ipv4
            } else if part.utf8.count <= 4, let group = UInt16(part, radix: 16) {
                bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
            } else {
                return nil
            }
        }
        return bytes
    }
}
