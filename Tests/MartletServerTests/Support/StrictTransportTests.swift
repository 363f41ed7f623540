import MartletHTTP
import Testing

@testable import MartletServer

struct StrictTransportTests {
    private struct Echo: HTTPHandler {
        func route(for head: HTTPRequest) -> HTTPRoute { HTTPRoute(bodyLimit: 0) { _ in HTTPResponse(.notFound) } }
    }

    private func field(isSecure: Bool) async -> String? {
        let connection = HTTPConnection(id: 1, peer: "192.0.2.1", isSecure: isSecure)
        return await StrictTransport(handler: Echo())
            .respond(to: HTTPRequest(.get, "/", connection: connection)).fields["strict-transport-security"]
    }

    @Test func everyAnswerOverTLSAsksForTLS() async {
        #expect(await field(isSecure: true) == "max-age=31536000")
    }

    @Test func allCertificatesButThoseOfThePrivateAuthorityAskForIt() {
        func asks(_ tls: ServerConfiguration.TLS?) -> Bool {
            ServerConfiguration(dataDirectory: "/d", tls: tls).asksForStrictTransport
        }
        #expect(asks(.files(certificate: "/c", key: "/k")))
        #expect(asks(.acme(.init(domains: ["push.example.org"]))))
        #expect(!asks(.selfSigned))
        #expect(!asks(nil))
    }

    @Test func anAnswerInClearTextDoesNot() async {
        // RFC 6797, section 7.2.
        #expect(await field(isSecure: false) == nil)
    }
}
