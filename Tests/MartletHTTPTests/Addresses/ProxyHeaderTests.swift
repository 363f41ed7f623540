import Testing

@testable import MartletHTTP

/// The headers of the PROXY protocol.
struct ProxyHeaderTests {
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]
    private static let ipv4: [UInt8] = [203, 0, 113, 9, 10, 0, 0, 1, 0xC3, 0x50, 1, 0xBB]
    private static let ipv6: [UInt8] =
        [0x20, 1, 0xD, 0xB8] + Array(repeating: 0, count: 11) + [7] + Array(repeating: 0, count: 16) + [0, 80, 1, 0xBB]

    private static func binary(
        _ command: UInt8, _ family: UInt8, _ addresses: [UInt8], more: [UInt8] = []
    ) -> [UInt8] {
        let length = addresses.count + more.count
        return signature + [command, family, UInt8(length >> 8), UInt8(length & 0xFF)] + addresses + more
    }

    private func client(_ bytes: [UInt8]) -> String? {
        guard case .header(let header) = ProxyHeader.read(bytes) else { return nil }
        return header.client.map { "\($0.address) \($0.port)" } ?? "the proxy's own"
    }

    @Test(arguments: [
        ("PROXY TCP4 203.0.113.9 10.0.0.1 50000 443", "203.0.113.9 50000"),
        ("PROXY TCP6 2001:db8::7 ::1 80 443", "2001:db8:0:0:0:0:0:7 80"),
        ("PROXY TCP6 ::ffff:203.0.113.9 ::1 80 443", "203.0.113.9 80"),
        ("PROXY UNKNOWN", "the proxy's own"),
        ("PROXY UNKNOWN ffff::1 ffff::2 65535 65535", "the proxy's own"),
    ]) func aLineNamesTheClient(line: String, expected: String) {
        #expect(client(Array("\(line)\r\n".utf8)) == expected)
    }

    @Test(arguments: [
        "GET / HTTP/1.1", "PROXY", "PROXY ", "PROXY TCP4", "PROXY TCP4 203.0.113.9 10.0.0.1 50000",
        "PROXY TCP4 2001:db8::7 ::1 80 443", "PROXY TCP6 203.0.113.9 10.0.0.1 80 443",
        "PROXY TCP4  203.0.113.9 10.0.0.1 50000 443", "PROXY TCP4 203.0.113.9 10.0.0.1 50000 443 ",
        "PROXY TCP4 203.0.113.9 10.0.0.1 65536 443", "PROXY TCP4 203.0.113.9 10.0.0.1 +5000 443",
        "PROXY TCP4 203.0.113.256 10.0.0.1 50000 443", "PROXY UDP4 203.0.113.9 10.0.0.1 50000 443",
        "PROXY TCP6 fe80::1%eth0 ::1 80 443", "proxy TCP4 203.0.113.9 10.0.0.1 50000 443",
    ]) func anyOtherLineIsRefused(line: String) {
        #expect(ProxyHeader.read(Array("\(line)\r\n".utf8)) == .malformed)
    }

    @Test func aLineEndsWithin107Bytes() {
        let unknown = Array("PROXY UNKNOWN ".utf8)
        let fill = { (count: Int) in unknown + Array(repeating: 0x61, count: count - unknown.count) }
        #expect(client(fill(105) + [13, 10]) == "the proxy's own")
        #expect(ProxyHeader.read(fill(106)) == .incomplete)
        #expect(ProxyHeader.read(fill(106) + [13, 10]) == .malformed)
        #expect(ProxyHeader.read(Array("PROXY UNKNOWN\n".utf8)) == .malformed)
    }

    @Test func theBinaryFormNamesTheClient() {
        #expect(client(Self.binary(0x21, 0x11, Self.ipv4)) == "203.0.113.9 50000")
        #expect(client(Self.binary(0x21, 0x21, Self.ipv6)) == "2001:db8:0:0:0:0:0:7 80")
        #expect(client(Self.binary(0x21, 0x11, Self.ipv4, more: [4, 0, 1, 0])) == "203.0.113.9 50000")
        #expect(client(Self.binary(0x20, 0x00, [])) == "the proxy's own")
        #expect(client(Self.binary(0x20, 0x11, Self.ipv4)) == "the proxy's own")
        #expect(client(Self.binary(0x21, 0x00, [])) == "the proxy's own")
        #expect(client(Self.binary(0x21, 0x31, Array(repeating: 0, count: 216))) == "the proxy's own")
    }

    @Test func anyOtherBinaryFormIsRefused() {
        // Another version, another command, datagrams, addresses that are too short, a header that is too long.
        #expect(ProxyHeader.read(Self.binary(0x11, 0x11, Self.ipv4)) == .malformed)
        #expect(ProxyHeader.read(Self.binary(0x22, 0x11, Self.ipv4)) == .malformed)
        #expect(ProxyHeader.read(Self.binary(0x21, 0x12, Self.ipv4)) == .malformed)
        #expect(ProxyHeader.read(Self.binary(0x21, 0x11, Array(Self.ipv4.dropLast()))) == .malformed)
        #expect(ProxyHeader.read(Self.binary(0x21, 0x21, Self.ipv4)) == .malformed)
        let longest = Self.binary(0x21, 0x11, Self.ipv4, more: Array(repeating: 0, count: 4096 - 28))
        #expect(client(longest) == "203.0.113.9 50000")
        let tooLong = Self.binary(0x21, 0x11, Self.ipv4, more: Array(repeating: 0, count: 4096 - 27))
        #expect(ProxyHeader.read(tooLong) == .malformed)
    }

    @Test(arguments: [
        binary(0x21, 0x11, ipv4, more: [4, 0, 1, 0]), Array("PROXY TCP4 203.0.113.9 10.0.0.1 50000 443\r\n".utf8),
    ]) func whereTheHeaderIsCutDoesNotMatter(header: [UInt8]) {
        for count in 0..<header.count {
            #expect(ProxyHeader.read(Array(header[..<count])) == .incomplete, "\(count) bytes")
        }
        for more in [[], [0x16], Array("GET / HTTP/1.1\r\n".utf8)] as [[UInt8]] {
            guard case .header(let read) = ProxyHeader.read(header + more) else {
                Issue.record("the header is not read")
                return
            }
            #expect(read.byteCount == header.count)
        }
    }
}
