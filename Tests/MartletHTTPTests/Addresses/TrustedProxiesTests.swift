import MartletHTTP
import Testing

struct TrustedProxiesTests {
    /// Who the request is from, whom to trust, the values of the field, and who the client is.
    private static let rows: [(peer: String, trusted: String, values: [String], client: String)] = [
        // Nobody is trusted.
        ("192.0.2.1", "", ["203.0.113.9"], "192.0.2.1"),
        ("127.0.0.1", "", ["203.0.113.9"], "127.0.0.1"),
        // A stranger's header changes nothing.
        ("192.0.2.1", "10.0.0.0/8", ["203.0.113.9"], "192.0.2.1"),
        ("192.0.2.1", "loopback", ["127.0.0.1"], "192.0.2.1"),
        // One proxy.
        ("127.0.0.1", "loopback", ["203.0.113.9"], "203.0.113.9"),
        ("::1", "loopback", ["203.0.113.9"], "203.0.113.9"),
        ("::ffff:127.0.0.1", "loopback", ["203.0.113.9"], "203.0.113.9"),
        ("10.1.2.3", "10.0.0.0/8", ["203.0.113.9"], "203.0.113.9"),
        ("10.1.2.3", "private", ["203.0.113.9"], "203.0.113.9"),
        ("fd00::1", "private", ["203.0.113.9"], "203.0.113.9"),
        ("172.32.0.1", "private", ["203.0.113.9"], "172.32.0.1"),
        ("10.1.2.3", "10.1.2.3", ["203.0.113.9"], "203.0.113.9"),
        ("10.1.2.4", "10.1.2.3", ["203.0.113.9"], "10.1.2.4"),
        // What is to the left of the client anybody can have written.
        ("10.0.0.1", "10.0.0.0/8", ["1.2.3.4, 203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", "10.0.0.0/8", ["1.2.3.4", "203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", "10.0.0.0/8", ["10.0.0.7, 203.0.113.9"], "203.0.113.9"),
        // Several proxies in a row.
        ("10.0.0.1", "10.0.0.0/8", ["203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        ("10.0.0.1", "10.0.0.0/8", ["203.0.113.9", "10.0.0.3, 10.0.0.2"], "203.0.113.9"),
        ("10.0.0.1", "10.0.0.0/8, 192.0.2.0/24", ["203.0.113.9, 192.0.2.8, 10.0.0.2"], "203.0.113.9"),
        // All are trusted: the leftmost.
        ("127.0.0.1", "loopback", ["127.0.0.5"], "127.0.0.5"),
        ("10.0.0.1", "10.0.0.0/8", ["10.0.0.4, 10.0.0.3"], "10.0.0.4"),
        // Nothing is said.
        ("10.0.0.1", "10.0.0.0/8", [], "10.0.0.1"),
        ("10.0.0.1", "10.0.0.0/8", [""], "10.0.0.1"),
        // What is no address ends the reading.
        ("10.0.0.1", "10.0.0.0/8", ["203.0.113.9, unknown"], "10.0.0.1"),
        ("10.0.0.1", "10.0.0.0/8", ["203.0.113.9, unknown, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", "10.0.0.0/8", ["203.0.113.9, "], "10.0.0.1"),
        ("10.0.0.1", "10.0.0.0/8", ["203.0.113"], "10.0.0.1"),
        ("10.0.0.1", "10.0.0.0/8", ["203.0.113.256"], "10.0.0.1"),
        ("10.0.0.1", "10.0.0.0/8", ["+3.0.113.9"], "10.0.0.1"),
        // Ports and brackets.
        ("10.0.0.1", "10.0.0.0/8", ["203.0.113.9:4711"], "203.0.113.9"),
        ("10.0.0.1", "10.0.0.0/8", ["203.0.113.9:port"], "10.0.0.1"),
        ("10.0.0.1", "10.0.0.0/8", ["[2001:db8::7]:4711"], "2001:db8:0:0:0:0:0:7"),
        ("10.0.0.1", "10.0.0.0/8", ["[2001:db8::7]"], "2001:db8:0:0:0:0:0:7"),
        ("10.0.0.1", "10.0.0.0/8", ["2001:db8::7"], "2001:db8:0:0:0:0:0:7"),
        ("10.0.0.1", "10.0.0.0/8", ["::ffff:203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", "10.0.0.0/8", ["[2001:db8::7"], "10.0.0.1"),
        // Longer than any honest one.
        ("10.0.0.1", "10.0.0.0/8", [String(repeating: "203.0.113.9,", count: 32) + "203.0.113.9"], "10.0.0.1"),
        ("10.0.0.1", "10.0.0.0/8", [String(repeating: " ", count: 4090) + "203.0.113.9"], "10.0.0.1"),
        // A Unix socket has no address.
        ("", "private", ["203.0.113.9"], ""),
    ]

    @Test(arguments: rows.indices)
    func theClientIsTheFirstFromTheRightWhoIsNotTrusted(index: Int) throws {
        let row = Self.rows[index]
        let proxies = try TrustedProxies(row.trusted)
        let fields = HTTPFields(row.values.map { HTTPField("x-forwarded-for", $0) })
        #expect(proxies.client(peer: row.peer, fields: fields) == row.client)
    }

    @Test(
        arguments: [
            ("for=203.0.113.9;proto=https", "203.0.113.9"), ("For=\"[2001:db8::7]:4711\"", "2001:db8:0:0:0:0:0:7"),
            ("for=1.2.3.4, for=203.0.113.9;by=10.0.0.1", "203.0.113.9"),
            ("for=203.0.113.9, for=10.0.0.2", "203.0.113.9"),
            ("for=unknown", "10.0.0.1"), ("for=_secret", "10.0.0.1"), ("proto=https", "10.0.0.1"),
        ])
    func theFieldOfRFC7239IsReadWhereItIsChosen(value: String, client: String) throws {
        let proxies = try TrustedProxies("10.0.0.0/8", field: .forwarded)
        let fields = HTTPFields([HTTPField("forwarded", value), HTTPField("x-forwarded-for", "192.0.2.77")])
        #expect(proxies.client(peer: "10.0.0.1", fields: fields) == client)
    }

    @Test func noHeaderOfAStrangerChangesWhoHeIs() throws {
        var chance = SystemRandomNumberGenerator()
        let proxies = try TrustedProxies("private")
        let parts = ["10.0.0.1", "127.0.0.1", "203.0.113.9", "[::1]:1", "unknown", "", ",", " ", "\"", "for=10.0.0.1"]
        for _ in 0..<2000 {
            let values = (0..<Int.random(in: 0...3, using: &chance)).map { _ in
                (0..<Int.random(in: 0...5, using: &chance)).map { _ in parts.randomElement(using: &chance) ?? "" }
                    .joined(separator: Bool.random(using: &chance) ? "," : "")
            }
            let fields = HTTPFields(values.map { HTTPField("x-forwarded-for", $0) })
            #expect(proxies.client(peer: "198.51.100.7", fields: fields) == "198.51.100.7")
        }
    }

    @Test(arguments: [
        "10.0.0.0/33", "10.0.0", "example.org", "10.0.0.0/8/8", "fe80::/129", "10.0.0.1-10.0.0.9", "local",
    ])
    func invalidNetworksAreNamed(item: String) {
        #expect(throws: TrustedProxies.Problem.unknown(item)) { try TrustedProxies("loopback, \(item)") }
    }

    @Test func aListHasALimit() {
        let list = (0..<65).map { "10.0.0.\($0)" }.joined(separator: ",")
        #expect(throws: TrustedProxies.Problem.tooMany(limit: 64)) { try TrustedProxies(list) }
    }

    private struct Echo: HTTPHandler {
        func route(for head: HTTPRequest) -> HTTPRoute {
            let atHead = head.clientAddress
            return HTTPRoute(bodyLimit: 0) { request in
                var response = HTTPResponse(.ok)
                response.fields["x-seen"] =
                    "\(atHead) \(request.clientAddress) \(request.forwarded?.isClearText == true)"
                return response
            }
        }
    }

    private func seen(peer: String, _ fields: HTTPFields) async throws -> String? {
        let handler = ForwardedClients(Echo(), proxies: try TrustedProxies("loopback"))
        let connection = HTTPConnection(id: 1, peer: peer, isSecure: false)
        let request = HTTPRequest(.get, "/", fields: fields, connection: connection)
        return await handler.respond(to: request).fields["x-seen"]
    }

    @Test func theHandlerSeesTheClientOnTheHeadAndAfterwards() async throws {
        let fields: HTTPFields = ["x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "http"]
        #expect(try await seen(peer: "127.0.0.1", fields) == "203.0.113.9 203.0.113.9 true")
        #expect(try await seen(peer: "192.0.2.1", fields) == "192.0.2.1 192.0.2.1 false")
    }

    @Test(
        "Of what a trusted proxy says of the scheme, only the one word https is TLS",
        arguments: [
            ([], false), (["https"], false), ([" HTTPS "], false), (["http"], true), (["https, http"], true),
            (["http, https"], true), (["https, https"], true), (["https", "https"], true), (["ws"], true),
            (["wss"], true), ([""], true), (["https,"], true), (["\"https\""], true), (["https http"], true),
        ])
    func onlyOneWordSaysTLS(values: [String], isClearText: Bool) async throws {
        let fields = HTTPFields(values.map { HTTPField("x-forwarded-proto", $0) })
        #expect(try TrustedProxies("loopback").saysClearText(fields) == isClearText)
        #expect(try await seen(peer: "127.0.0.1", fields)?.hasSuffix(" \(isClearText)") == true)
    }

    @Test(
        "The scheme of the field of RFC 7239 is read where that field is chosen",
        arguments: [
            ("for=203.0.113.9", false), ("for=203.0.113.9;proto=https", false), ("for=1.2.3.4;Proto=\"HTTPS\"", false),
            ("proto=https, for=1.2.3.4;proto=https", false), ("for=1.2.3.4;proto=http", true),
            ("proto=https, for=1.2.3.4;proto=http", true), ("proto=http, for=1.2.3.4;proto=https", true),
            ("for=1.2.3.4; proto = ws", true), ("proto=https;proto=http", true), ("proto=", true),
            ("for=\", for=1.2.3.4;proto=http", true),
        ])
    func theSchemeOfRFC7239IsReadWhereItIsChosen(value: String, isClearText: Bool) throws {
        let fields = HTTPFields([HTTPField("forwarded", value)])
        #expect(try TrustedProxies("loopback", field: .forwarded).saysClearText(fields) == isClearText)
        #expect(try !TrustedProxies("loopback").saysClearText(fields))
    }
}
