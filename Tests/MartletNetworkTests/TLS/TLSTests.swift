import CMartletOpenSSL
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

    private var soon: ContinuousClock.Instant { .now + .seconds(10) }

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
