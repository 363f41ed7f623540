import MartletHTTP
import Synchronization
import Testing

@testable import MartletNetwork

/// Servers that misbehave on purpose.
struct ConnectionControlTests {
    /// Keeps the connections that there are.
    private final class Observer: ConnectionObserver {
        let controls = Mutex<[UInt64: ConnectionControl]>([:])
        let gone = Signal()

        func opened(_ control: ConnectionControl) {
            controls.withLock { $0[control.connection.id] = control }
        }

        func closed(_ connection: UInt64) {
            _ = controls.withLock { $0.removeValue(forKey: connection) }
            gone.set()
        }

        func control(of request: HTTPRequest) -> ConnectionControl? {
            controls.withLock { controls in request.connection.flatMap { controls[$0.id] } }
        }
    }

    private let loops: EventLoopGroup
    private let observer = Observer()

    init() throws {
        loops = try EventLoopGroup(count: 1)
    }

    private func answer(
        to pieces: [String], _ handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) async throws -> String {
        let server = HTTPServer(loops: loops, handler: ClosureHandler(answer: handler), observer: observer)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let answer = await RawClient.exchange(address, pieces)
        await server.shutDown()
        return answer
    }

    @Test func bytesCanBeSentInPlaceOfAnAnswer() async throws {
        let observer = observer
        let answer = try await answer(to: ["GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"]) { request in
            observer.control(of: request)?.write(Array("no HTTP at all\n".utf8))
            await Task.yield()
            return HTTPResponse(.ok)
        }
        #expect(answer.hasPrefix("no HTTP at all\nHTTP/1.1 200 OK"))
    }

    @Test func aConnectionCanBeResetAndIsThenGone() async throws {
        let observer = observer
        let answer = try await answer(to: ["GET / HTTP/1.1\r\nHost: a\r\n\r\n"]) { request in
            observer.control(of: request)?.reset()
            await observer.gone.wait()
            return HTTPResponse(.ok)
        }
        #expect(answer.isEmpty)
        let isEmpty = observer.controls.withLock { $0.isEmpty }
        #expect(isEmpty)
    }

    @Test func eachConnectionCanBeShownAnotherCertificate() async throws {
        let authority = try TestAuthority()
        let contexts = [
            try TLSServerContext(authority.issue(alternatives: "DNS:elsewhere.example")),
            try TLSServerContext(authority.issue()),
        ]
        let turn = Atomic<Int>(0)
        let server = HTTPServer(loops: loops, handler: ClosureHandler.echo)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0)) {
            contexts[min(1, turn.wrappingAdd(1, ordering: .relaxed).oldValue)]
        }
        let client = HTTPClient(loops: loops)
        let origin = HTTPOrigin(scheme: .https, host: "127.0.0.1", port: address.port)
        let settings = TransportSettings(trustedCertificatesPEM: authority.certificatePEM)
        let send = { @Sendable () async throws(TransportError) -> HTTPResponse in
            try await client.send(HTTPRequest(.get, "/"), to: origin, settings: settings, before: .now + .seconds(60))
        }
        let error = await #expect(throws: TransportError.self) { try await send() }
        #expect(error?.kind == .insecure)
        let answer = try await send()
        #expect(answer.status == .ok)
        await client.shutDown()
        await server.shutDown()
    }
}
