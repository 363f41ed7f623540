import MartletHTTP
import MartletModel
import Testing

@testable import MartletServer

struct PublicEndpointTests {
    private func endpoint(
        _ publicURL: String? = nil, tls: String? = nil, clear: String? = nil, hostName: String? = nil
    ) -> PublicEndpoint {
        PublicEndpoint(
            publicURL: publicURL.flatMap { HTTPOrigin($0) }, tls: tls.flatMap { HTTPOrigin($0) },
            clear: clear.flatMap { HTTPOrigin($0) }, hostName: hostName)
    }

    @Test func thePublicAddressPrevailsOverTheListeners() {
        let found = endpoint("https://push.example", tls: "https://0.0.0.0:8443", hostName: "machine")
        #expect(found.origin == "https://push.example:443")
        #expect(found.advice == nil)
    }

    @Test(arguments: ["https://192.0.2.7:8443", "https://127.0.0.1:8443", "https://[::1]:8443"])
    func aListenerOnOneAddressIsReachedThere(listener: String) {
        #expect(endpoint(tls: listener, clear: "http://127.0.0.1:8080", hostName: "machine").origin == listener)
        #expect(endpoint(tls: listener).advice == nil)
    }

    @Test(arguments: ["0.0.0.0", "[::]", "[0:0:0:0:0:0:0:0]"])
    func anAddressThatIsNoneIsNeverShown(host: String) {
        let named = endpoint(tls: "https://\(host):8443", hostName: "machine.example")
        #expect(named.origin == "https://machine.example:8443")
        #expect(named.advice?.hasPrefix("Set --public-url: clients cannot use ") == true)
        let nameless = endpoint(clear: "http://\(host):8080")
        #expect(nameless.origin == "http://localhost:8080")
        #expect(nameless.advice?.hasPrefix("Set --public-url: clients cannot use ") == true)
    }

    @Test func whereNoServerRunsTheAddressIsTheOneThatIsGiven() {
        #expect(endpoint("https://push.example:8443").origin == "https://push.example:8443")
        #expect(endpoint("https://push.example:8443").advice == nil)
        #expect(endpoint().advice?.contains("Give --public-url") == true)
        let answer = endpoint().answer(json: [:])
        #expect(answer.fields["martlet-advice"] == endpoint().advice)
    }
}
