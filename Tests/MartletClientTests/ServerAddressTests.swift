import Testing

@testable import MartletClient

struct ServerAddressTests {
    @Test(arguments: [
        ("https://push.example.org", "https://push.example.org"),
        ("https://Push.Example.org/", "https://push.example.org"),
        ("HTTPS://push.example.org:8443/a/b/", "https://push.example.org:8443/a/b"),
        ("http://localhost:8080", "http://localhost:8080"), ("http://127.0.0.1", "http://127.0.0.1"),
        ("http://127.1.2.3:80/", "http://127.1.2.3:80"), ("http://[::1]:8080", "http://[::1]:8080"),
    ])
    func anAddressIsSecureOrThisMachine(text: String, base: String) throws {
        #expect(try ServerAddress(text).description == base)
    }

    @Test(arguments: [
        "http://push.example.org", "http://10.0.0.1", "http://localhost.example.org", "http://127.0.0.1.example.org",
        "http://[::2]", "http://127.0.0", "http://127.0.0.256",
    ])
    func clearTextIsRefusedElsewhere(text: String) {
        let error = #expect(throws: PushClientError.self) { try ServerAddress(text) }
        #expect(error?.kind == .insecureServer)
    }

    @Test(arguments: [
        "", "push.example.org", "ftp://push.example.org", "https://", "https://user:pass@push.example.org",
        "https://push.example.org?x", "https://push.example.org/#x", "https://push.example.org:99999",
        "https://push.example.org:", "https://push example.org", "https://[::1", "https://[::1]x", "https://:80",
        "http://localhost@example.org", "https://push.example.org\r\n",
    ])
    func invalidAddressesAreRefused(text: String) {
        let error = #expect(throws: PushClientError.self) { try ServerAddress(text) }
        #expect(error?.kind == .badServer)
    }
}
