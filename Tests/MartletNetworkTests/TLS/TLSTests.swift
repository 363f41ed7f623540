import CMartletLinux
import CMartletOpenSSL
import Glibc
import MartletHTTP
import Testing

@testable import MartletNetwork

struct TLSTests {
    private let loops: EventLoopGroup
    private let authority: TestAuthority

    init() throws {
        loops = try EventLoopGroup(count: 1)
        authority = try TestAuthority()
    }

    /// Far enough that a busy machine, or the sanitizer, never gets there.
    private var soon: ContinuousClock.Instant { .now + .seconds(300) }

    private func failure(
        _ identity: TLSIdentity, trusted: String?, version: TransportSettings.Version = .negotiated
    ) async throws -> TransportError? {
        let server = HTTPServer(loops: loops, handler: ClosureHandler.echo)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: TLSServerContext(identity))
        let client = HTTPClient(loops: loops)
        let origin = HTTPOrigin(scheme: .https, host: "127.0.0.1", port: address.port)
        let settings = TransportSettings(version: version, trustedCertificatesPEM: trusted)
        var failure: TransportError?
        do throws(TransportError) {
            _ = try await client.send(HTTPRequest(.get, "/"), to: origin, settings: settings, before: soon)
        } catch {
            failure = error
        }
        await client.shutDown()
        await server.shutDown()
        return failure
    }

    @Test func aCertificateOfAnUnknownAuthorityIsNotTrusted() async throws {
        let other = try TestAuthority(name: "Other CA")
        for trusted in [other.certificatePEM, nil] {
            let error = try await failure(authority.issue(), trusted: trusted)
            #expect(error?.kind == .insecure)
            #expect(error?.mayHaveBeenProcessed == false)
            #expect(error?.detail.contains("not trusted") == true)
        }
    }

    @Test func aCertificateForAnotherNameIsNotAccepted() async throws {
        let error = try await failure(
            authority.issue(alternatives: "DNS:localhost,IP:127.0.0.2"), trusted: authority.certificatePEM)
        #expect(error?.kind == .insecure)
        let right = try await failure(authority.issue(alternatives: "IP:127.0.0.1"), trusted: authority.certificatePEM)
        #expect(right == nil)
    }

    @Test(arguments: [(20, false), (40, true)])
    func aPeerThatKeepsChangingItsKeysIsLeft(_ updates: Int, _ isFlood: Bool) throws {
        var sockets: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
        #expect(socketpair(AF_UNIX, type, 0, &sockets) == 0)
        let context = SSL_CTX_new(TLS_client_method())
        let client = SSL_new(context)
        defer {
            SSL_free(client)
            SSL_CTX_free(context)
            for descriptor in sockets { close(descriptor) }
        }
        SSL_set_fd(client, sockets[0])
        SSL_set_connect_state(client)
        let server = try TLSServerContext(authority.issue()).makeSession()
        var isDone = false
        for _ in 0..<10 where !isDone {
            let result = SSL_do_handshake(client)
            if case .done = server.performHandshake(sockets[1]) { isDone = result == 1 }
        }
        #expect(isDone)
        for _ in 0..<updates {
            #expect(SSL_key_update(client, SSL_KEY_UPDATE_NOT_REQUESTED) == 1)
            #expect(SSL_do_handshake(client) == 1)
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let transfer = buffer.withUnsafeMutableBytes { server.read(into: $0) }
        switch transfer {
        case .failed: #expect(isFlood)
        case .wouldBlock: #expect(!isFlood)
        case .bytes, .ended: Issue.record("nothing was sent but key updates")
        }
    }

    @Test(arguments: [("*.example.com", true), ("p*.example.com", false), ("*.com", false)])
    func aStarStandsForOneWholeLabel(_ name: String, _ isAccepted: Bool) throws {
        var sockets: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
        #expect(socketpair(AF_UNIX, type, 0, &sockets) == 0)
        defer { for descriptor in sockets { close(descriptor) } }
        let server = try TLSServerContext(authority.issue(alternatives: "DNS:\(name)")).makeSession()
        let context = try TLSContext(client: nil, trustedPEM: authority.certificatePEM)
        let client = try TLSSession(clientOf: context, host: "push.example.com", protocols: ["h2"])
        var isDone = false
        for _ in 0..<10 {
            if case .done = client.performHandshake(sockets[0]) { isDone = true }
            _ = server.performHandshake(sockets[1])
        }
        #expect(isDone == isAccepted)
    }

    @Test func aCertificateMayBeTrustedByItself() async throws {
        let identity = try authority.issue()
        #expect(try await failure(identity, trusted: identity.certificatesPEM) == nil)
    }

    @Test func aClientCertificateIsAskedForAndNotDemanded() async throws {
        let handler = ClosureHandler { request in
            HTTPResponse(.ok, body: .bytes(request.connection?.peerCertificate ?? []))
        }
        let server = HTTPServer(loops: loops, handler: handler)
        let context = try TLSServerContext(authority.issue(), requestsClientCertificate: true)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: context)
        let origin = HTTPOrigin(scheme: .https, host: "127.0.0.1", port: address.port)
        let client = HTTPClient(loops: loops)
        let unknown = try TestAuthority(name: "Unknown").issue("client")
        for identity in [nil, unknown.certificatesPEM + unknown.privateKeyPEM] {
            let settings = TransportSettings(
                trustedCertificatesPEM: authority.certificatePEM, clientIdentityPEM: identity)
            let response = try await client.send(
                HTTPRequest(.get, "/"), to: origin, settings: settings, before: soon)
            #expect(response.bytes.isEmpty == (identity == nil))
        }
        await client.shutDown()
        await server.shutDown()
    }

    @Test func aReloadedIdentityIsPresentedToTheNextWhoConnects() async throws {
        let second = try TestAuthority(name: "Second")
        let context = try TLSServerContext(authority.issue())
        let server = HTTPServer(loops: loops, handler: ClosureHandler.echo)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: context)
        let origin = HTTPOrigin(scheme: .https, host: "127.0.0.1", port: address.port)
        try context.reload(second.issue())
        let client = HTTPClient(loops: loops)
        let settings = TransportSettings(trustedCertificatesPEM: second.certificatePEM)
        let response = try await client.send(HTTPRequest(.get, "/"), to: origin, settings: settings, before: soon)
        #expect(response.status == .ok)
        await client.shutDown()
        await server.shutDown()
    }

    @Test func aHandshakeThatTakesTooLongIsClosed() async throws {
        var limits = ServerLimits()
        limits.handshakeTime = .milliseconds(50)
        let server = HTTPServer(loops: loops, handler: ClosureHandler.echo, limits: limits)
        let address = try await server.listen(
            on: .tcp(host: "127.0.0.1", port: 0), tls: TLSServerContext(authority.issue()))
        #expect(await RawClient.exchange(address, ["\u{16}\u{3}"]).isEmpty)
        await server.shutDown()
    }

    @Test func clearTextOnATLSListenerIsRefused() async throws {
        let server = HTTPServer(loops: loops, handler: ClosureHandler.echo)
        let address = try await server.listen(
            on: .tcp(host: "127.0.0.1", port: 0), tls: TLSServerContext(authority.issue()))
        let answer = await RawClient.exchange(address, ["GET / HTTP/1.1\r\nHost: a\r\n\r\n"])
        #expect(!answer.contains("200"))
        await server.shutDown()
    }

    @Test func settingsThatCannotWorkAreRefusedWithASentence() throws {
        let one = try authority.issue()
        let other = try authority.issue()
        let mixed = TLSIdentity(certificatesPEM: one.certificatesPEM, privateKeyPEM: other.privateKeyPEM)
        let error = #expect(throws: NetworkError.self) { try TLSServerContext(mixed) }
        #expect(error?.description.contains("does not belong") == true)
        #expect(throws: NetworkError.self) {
            try TLSServerContext(TLSIdentity(certificatesPEM: "", privateKeyPEM: one.privateKeyPEM))
        }
        #expect(throws: NetworkError.self) {
            try TLSServerContext(TLSIdentity(certificatesPEM: one.certificatesPEM, privateKeyPEM: "none"))
        }
        #expect(throws: NetworkError.self) {
            try TLSIdentity(certificateFile: "/nonexistent/certificate", privateKeyFile: "/nonexistent/key")
        }
    }
}
