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
}
