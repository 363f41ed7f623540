import MartletHTTP
import Synchronization
import Testing

@testable import MartletNetwork

/// Requests whose body or answer is too large for memory.
struct TransferTests {
    private static let length = 3_000_000

    private let loops: EventLoopGroup

    init() throws {
        loops = try EventLoopGroup(count: 2)
    }

    private static func byte(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8) }

    private static func bytes(_ range: Range<Int>) -> [UInt8] { range.map(byte) }

    /// Records what comes.
    private final class Noted: Sendable {
        let bytes = Mutex<[UInt8]>([])
        let limit: Int

        init(limit: Int = .max) {
            self.limit = limit
        }

        func sink(isWanted: Bool = true) -> HTTPClient.Sink {
            HTTPClient.Sink(
                begin: { _ in isWanted },
                receive: { piece in
                    self.bytes.withLock { bytes in
                        bytes.append(contentsOf: piece)
                        return bytes.count < self.limit
                    }
                })
        }
    }

    private func serve(_ handler: any HTTPHandler) async throws -> (server: HTTPServer, origin: HTTPOrigin) {
        let server = HTTPServer(loops: loops, handler: handler)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        return (server, HTTPOrigin(scheme: .http, host: "127.0.0.1", port: address.port))
    }

    private var content: ClosureHandler {
        ClosureHandler { _ in
            HTTPResponse(
                .ok,
                body: .stream(length: Self.length) { writer in
                    for start in stride(from: 0, to: Self.length, by: 50_000) {
                        try await writer.write(Self.bytes(start..<(start + 50_000)))
                    }
                })
        }
    }

    @Test(arguments: [TransportSettings.Version.http1, .http2])
    func anAnswerGoesToItsSinkAsItComes(_ version: TransportSettings.Version) async throws {
        let (server, origin) = try await serve(content)
        var limits = ClientLimits()
        limits.bodyBytes = 1000
        let client = HTTPClient(loops: loops, limits: limits)
        let noted = Noted()
        let answer = try await client.transfer(
            HTTPRequest(.get, "/"), to: origin, settings: TransportSettings(version: version),
            patience: .seconds(300), sink: noted.sink())
        #expect(answer.status == .ok)
        #expect(answer.bytes.isEmpty)
        #expect(noted.bytes.withLock { $0 == Self.bytes(0..<Self.length) })
        await client.shutDown()
        await server.shutDown()
    }

    @Test func anAnswerThatTheSinkDoesNotWantIsCollected() async throws {
        let (server, origin) = try await serve(ClosureHandler { _ in HTTPResponse(.notFound, body: .bytes([1, 2])) })
        let client = HTTPClient(loops: loops)
        let answer = try await client.transfer(
            HTTPRequest(.get, "/"), to: origin, patience: .seconds(300), sink: Noted().sink(isWanted: false))
        #expect(answer.bytes == [1, 2])
        await client.shutDown()
        await server.shutDown()
    }

    @Test func anAnswerThatIsCollectedHasTheLimitOfItsRequest() async throws {
        let (server, origin) = try await serve(
            ClosureHandler { _ in HTTPResponse(.notFound, body: .bytes([UInt8](repeating: 1, count: 1000))) })
        let client = HTTPClient(loops: loops)
        var request = HTTPRequest(.get, "/")
        request.answerLimit = 999
        let error = await #expect(throws: TransportError.self) {
            try await client.transfer(
                request, to: origin, patience: .seconds(300), sink: Noted().sink(isWanted: false))
        }
        #expect(error?.kind == .misbehaved)
        await client.shutDown()
        await server.shutDown()
    }

    @Test(arguments: [TransportSettings.Version.http1, .http2])
    func aSinkThatHasEnoughEndsTheRequest(_ version: TransportSettings.Version) async throws {
        let (server, origin) = try await serve(content)
        let client = HTTPClient(loops: loops)
        let noted = Noted(limit: 1000)
        let error = await #expect(throws: TransportError.self) {
            try await client.transfer(
                HTTPRequest(.get, "/"), to: origin, settings: TransportSettings(version: version),
                patience: .seconds(300), sink: noted.sink())
        }
        #expect(error?.kind == .cancelled)
        #expect(noted.bytes.withLock { $0.count } < Self.length)
        await client.shutDown()
        await server.shutDown()
    }

    @Test(arguments: [0, 1, 65_536, 3_000_000])
    func aBodyIsReadWhileItIsSent(length: Int) async throws {
        let (server, origin) = try await serve(
            ClosureHandler(limit: 4 << 20) { HTTPResponse(.ok, body: .bytes($0.body)) })
        let client = HTTPClient(loops: loops)
        let longest = Mutex(0)
        var request = HTTPRequest(.post, "/")
        request.upload = HTTPUpload(length: Int64(length)) { offset, count in
            longest.withLock { $0 = max($0, count) }
            return Self.bytes(Int(offset)..<(Int(offset) + count))
        }
        for _ in 0..<2 {
            let answer = try await client.transfer(
                request, to: origin, patience: .seconds(300), sink: Noted().sink(isWanted: false))
            #expect(answer.bytes == Self.bytes(0..<length))
        }
        #expect(longest.withLock { $0 } <= 1 << 20, "never as a whole")
        await client.shutDown()
        await server.shutDown()
    }

    @Test func aBodyThatCannotBeReadEndsTheRequest() async throws {
        struct Gone: Error {}
        let (server, origin) = try await serve(
            ClosureHandler(limit: 4 << 20) { HTTPResponse(.ok, body: .bytes($0.body)) })
        let client = HTTPClient(loops: loops)
        var request = HTTPRequest(.post, "/")
        request.upload = HTTPUpload(length: 2_000_000) { offset, count in
            guard offset < 1_000_000 else { throw Gone() }
            return [UInt8](repeating: 0, count: count)
        }
        let error = await #expect(throws: TransportError.self) {
            try await client.transfer(request, to: origin, patience: .seconds(300), sink: Noted().sink())
        }
        #expect(error?.kind == .invalidRequest)
        #expect(error?.mayHaveBeenProcessed == true, "the server has the beginning")
        await client.shutDown()
        await server.shutDown()
    }

    @Test func aRefusalBeforeTheEndOfTheBodyIsHeard() async throws {
        let (server, origin) = try await serve(ClosureHandler(limit: 1000) { _ in HTTPResponse(.ok) })
        let client = HTTPClient(loops: loops)
        var request = HTTPRequest(.post, "/")
        request.upload = HTTPUpload(length: 64 << 20) { _, count in [UInt8](repeating: 0, count: count) }
        let answer = try await client.transfer(
            request, to: origin, patience: .seconds(300), sink: Noted().sink(isWanted: false))
        #expect(answer.status.code == 413)
        await client.shutDown()
        await server.shutDown()
    }
}
