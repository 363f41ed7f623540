import MartletHTTP
import Testing

struct HTTPOriginTests {
    @Test(arguments: [
        ("https://Api.Push.example", "https://api.push.example", "api.push.example"),
        ("https://h:443/", "https://h", "h"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", "127.0.0.1:8080"),
        ("https://[::1]:8443", "https://[::1]:8443", "[::1]:8443"),
    ])
    func anOriginIsReadAndWritten(text: String, written: String, authority: String) throws {
        let origin = try #require(HTTPOrigin(text))
        #expect(origin.description == written)
        #expect(origin.authority == authority)
    }

    @Test(arguments: [
        "", "ftp://h", "https://", "https://h/path", "https://user@h", "https://h:99999", "https://h:", "https://h:+80",
        "https://h x",
        "https://[::1", "https://h\"x", "//h",
    ])
    func invalidOriginsAreRefused(text: String) {
        #expect(HTTPOrigin(text) == nil)
    }

    @Test func aURLIsCutBehindItsAuthority() throws {
        let (origin, rest) = try #require(HTTPOrigin.splitting("https://h:8443/3/device?x=1"))
        #expect(origin == HTTPOrigin(scheme: .https, host: "h", port: 8443))
        #expect(rest == "/3/device?x=1")
    }

    @Test(arguments: [
        ("http://localhost", true), ("http://127.0.0.1:1", true), ("https://127.255.0.9", true),
        ("https://[::1]", true),
        ("https://127.evil.0.1", false), ("https://127.0.0.1.example", false), ("https://[::2]", false),
        ("https://169.254.169.254", false), ("https://localhost.example", false),
    ])
    func loopbackIsKnownByItsName(text: String, isLoopback: Bool) throws {
        #expect(try #require(HTTPOrigin(text)).isLoopback == isLoopback)
    }

    @Test func onlyTheOriginThatTheOperatorNamedMayBeInAPrivateNetwork() throws {
        let operators = try #require(HTTPOrigin("https://id.example"))
        let other = try #require(HTTPOrigin("https://id.example:8443"))
        #expect(TransportSettings.Addresses.allowed(for: operators, namedBy: operators) == .any)
        #expect(TransportSettings.Addresses.allowed(for: other, namedBy: operators) == .publicOnly)
        #expect(TransportSettings.Addresses.allowed(for: other, namedBy: nil) == .publicOnly)
    }
}
