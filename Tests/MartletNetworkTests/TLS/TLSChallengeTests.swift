import CMartletLinux
import Glibc
import Testing

@testable import MartletNetwork

/// How a listener answers the challenges of a certificate authority (RFC 8737).
struct TLSChallengeTests {
    private let authority: TestAuthority
    private let host = "push.example.com"

    init() throws {
        authority = try TestAuthority()
    }

    /// What ALPN selected and the certificate that the client got; nil if the handshake failed.
    private func handshake(
        _ server: TLSServerContext, _ protocols: [String], host: String = "push.example.com"
    ) throws -> (selected: String?, certificate: [UInt8]?)? {
        var sockets: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
        #expect(socketpair(AF_UNIX, type, 0, &sockets) == 0)
        defer { for descriptor in sockets { close(descriptor) } }
        let session = try server.makeSession()
        let context = try TLSContext(client: nil, trustedPEM: authority.certificatePEM)
        let client = try TLSSession(clientOf: context, host: host, protocols: protocols)
        var isDone = (client: false, server: false)
        for _ in 0..<10 {
            if case .done = client.performHandshake(sockets[0]) { isDone.client = true }
            if case .done = session.performHandshake(sockets[1]) { isDone.server = true }
        }
        guard isDone.client, isDone.server else { return nil }
        #expect(session.selectedProtocol == client.selectedProtocol)
        return (client.selectedProtocol, client.peerCertificate)
    }

    private func identity() throws -> TLSIdentity { try authority.issue(alternatives: "DNS:\(host)") }

    @Test func withoutACertificateOnlyAChallengeIsAnswered() throws {
        let server = try TLSServerContext(answeringChallengesWith: nil)
        #expect(try handshake(server, ["h2", "http/1.1"]) == nil)
        #expect(try handshake(server, ["acme-tls/1"]) == nil)
        try server.answerChallenges(with: [host: try identity()])
        #expect(try handshake(server, ["acme-tls/1"])?.selected == "acme-tls/1")
        #expect(try handshake(server, ["acme-tls/1"], host: "PUSH.example.com")?.selected == "acme-tls/1")
        #expect(try handshake(server, ["acme-tls/1"], host: "api.example.com") == nil)
        #expect(try handshake(server, ["h2"]) == nil)
        #expect(try handshake(server, []) == nil)
        try server.answerChallenges(with: [:])
        #expect(try handshake(server, ["acme-tls/1"]) == nil)
    }

    @Test func aChallengeHasItsOwnCertificateBesideTheListeners() throws {
        let server = try TLSServerContext(answeringChallengesWith: nil)
        server.use(try server.prepare(try identity()))
        let usual = try #require(try handshake(server, ["h2"]))
        #expect(usual.selected == "h2")
        #expect(try handshake(server, ["acme-tls/1"]) == nil)
        try server.answerChallenges(with: [host: try identity()])
        let challenge = try #require(try handshake(server, ["acme-tls/1"]))
        #expect(challenge.certificate != usual.certificate)
        // Only an authority offers nothing else.
        let both = try #require(try handshake(server, ["acme-tls/1", "h2"]))
        #expect(both.selected == "h2")
        #expect(both.certificate == usual.certificate)
    }

    @Test func anotherListenerKnowsNoChallenge() throws {
        let server = try TLSServerContext(try identity())
        #expect(try handshake(server, ["acme-tls/1"]) == nil)
        let error = #expect(throws: NetworkError.self) {
            try server.answerChallenges(with: [host: try identity()])
        }
        #expect(error?.kind == .configuration)
    }

    @Test func aSessionOutlivesTheContextThatIsReplaced() throws {
        let server = try TLSServerContext(answeringChallengesWith: try identity())
        var sockets: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
        #expect(socketpair(AF_UNIX, type, 0, &sockets) == 0)
        defer { for descriptor in sockets { close(descriptor) } }
        let session = try server.makeSession()
        server.use(try server.prepare(try identity()))
        let context = try TLSContext(client: nil, trustedPEM: authority.certificatePEM)
        let client = try TLSSession(clientOf: context, host: host, protocols: ["h2"])
        var isDone = false
        for _ in 0..<10 {
            if case .done = client.performHandshake(sockets[0]) { isDone = true }
            _ = session.performHandshake(sockets[1])
        }
        #expect(isDone)
    }

    @Test(
        arguments: [
            ([], nil), ([0, 7, 0, 0, 4, 0x41, 0x62, 0x2E, 0x63], "ab.c"),
            ([0, 7, 1, 0, 4, 0x41, 0x62, 0x2E, 0x63], nil),
            ([0, 7, 0, 0, 5, 0x41, 0x62, 0x2E, 0x63], nil), ([0, 3, 0, 0, 0], nil), ([0, 3, 0, 0, 0, 1], nil),
            ([0, 7, 0, 0xFF, 0xFF, 0x41], nil),
        ] as [([UInt8], String?)])
    func theNameOfAClientIsReadWithinItsBounds(_ bytes: [UInt8], _ host: String?) {
        #expect(ClientHello(serverName: bytes, protocols: nil).host == host)
    }
}
