import MartletHTTP
import Synchronization
import Testing

@testable import MartletNetwork

struct HTTPClientTests {
    /// What the client is proved on: each version, with and without TLS.
    enum Way: CaseIterable {
        case clear1
        case clear2
        case tls1
        case tls2
    }

    private let loops: EventLoopGroup
    private let authority: TestAuthority

    init() throws {
        loops = try EventLoopGroup(count: 2)
        authority = try TestAuthority()
    }

    /// Far enough that a busy machine, or the sanitizer, never gets there.
    private var soon: ContinuousClock.Instant { .now + .seconds(300) }

    private func serve(
        _ way: Way, _ handler: ClosureHandler, limits: ServerLimits = ServerLimits()
    ) async throws -> (server: HTTPServer, origin: HTTPOrigin, settings: TransportSettings) {
        let server = HTTPServer(loops: loops, handler: handler, limits: limits)
        let isSecure = way == .tls1 || way == .tls2
        let tls = isSecure ? try TLSServerContext(authority.issue()) : nil
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0), tls: tls)
        let settings = TransportSettings(
            version: way == .clear1 || way == .tls1 ? .http1 : .http2,
            trustedCertificatesPEM: isSecure ? authority.certificatePEM : nil)
        let origin = HTTPOrigin(scheme: isSecure ? .https : .http, host: "127.0.0.1", port: address.port)
        return (server, origin, settings)
    }

    @Test(arguments: Way.allCases)
    func openConnectionsAreCountedByPurpose(_ way: Way) async throws {
        var (server, origin, settings) = try await serve(way, ClosureHandler(limit: 0) { _ in HTTPResponse(.ok) })
        let client = HTTPClient(loops: loops)
        #expect(await client.openCounts.isEmpty)
        for purpose in ["a", "b", "b"] {
            settings.purpose = purpose
            _ = try await client.send(HTTPRequest(.get, "/"), to: origin, settings: settings, before: soon)
        }
        #expect(await client.openCounts == ["a": 1, "b": 1])
        #expect(server.connectionCount == 2)
        await client.shutDown()
        await server.shutDown()
    }

    @Test(arguments: Way.allCases)
    func aRequestIsAnsweredOverEveryVersion(_ way: Way) async throws {
        let handler = ClosureHandler(limit: 1 << 20) { request in
            let about = "\(request.connection?.majorVersion ?? 0) \(request.connection?.isSecure ?? false)"
            return HTTPResponse(
                .created, fields: ["x-about": about, "x-got": request.fields["x-sent"] ?? ""],
                body: .bytes(request.body))
        }
        let (server, origin, settings) = try await serve(way, handler)
        let client = HTTPClient(loops: loops)
        for size in [0, 5, 300_000] {
            let body = [UInt8](repeating: 0x61, count: size)
            let request = HTTPRequest(.post, "/p?q=1", fields: ["x-sent": "v"], body: body)
            let response = try await client.send(request, to: origin, settings: settings, before: soon)
            #expect(response.status == .created)
            #expect(response.bytes == body)
            #expect(response.fields["x-got"] == "v")
            let version = way == .clear1 || way == .tls1 ? 1 : 2
            #expect(response.fields["x-about"] == "\(version) \(way == .tls1 || way == .tls2)")
        }
        await client.shutDown()
        await server.shutDown()
    }

    @Test(arguments: ["127.0.0.1", "localhost", "::ffff:127.0.0.1", "2130706433", "0x7f.1"])
    func addressesChosenByDevicesAreCheckedAfterResolution(host: String) async throws {
        let served = Atomic<Int>(0)
        let handler = ClosureHandler { _ in
            served.wrappingAdd(1, ordering: .relaxed)
            return HTTPResponse(.ok)
        }
        let (server, origin, settings) = try await serve(.clear1, handler)
        let client = HTTPClient(loops: loops)
        let named = HTTPOrigin(scheme: .http, host: host, port: origin.port)
        var guarded = settings
        guarded.addresses = .publicOnly
        let error = await #expect(throws: TransportError.self) {
            try await client.send(HTTPRequest(.get, "/"), to: named, settings: guarded, before: soon)
        }
        #expect(error?.kind == .unreachable)
        #expect(served.load(ordering: .relaxed) == 0)
        guarded.addresses = .publicOrLoopback
        if host != "::ffff:127.0.0.1" {
            let response = try await client.send(HTTPRequest(.get, "/"), to: named, settings: guarded, before: soon)
            #expect(response.status == .ok)
        }
        await client.shutDown()
        await server.shutDown()
    }

    @Test(arguments: Way.allCases)
    func connectionsAreUsedAgain(_ way: Way) async throws {
        let ids = Mutex<Set<UInt64>>([])
        let handler = ClosureHandler { request in
            if let id = request.connection?.id { _ = ids.withLock { $0.insert(id) } }
            return HTTPResponse(.ok)
        }
        let (server, origin, settings) = try await serve(way, handler)
        let client = HTTPClient(loops: loops)
        for _ in 0..<20 {
            _ = try await client.send(HTTPRequest(.get, "/"), to: origin, settings: settings, before: soon)
        }
        #expect(ids.withLock { $0.count } == 1)
        await client.shutDown()
        await server.shutDown()
    }

    @Test(arguments: Way.allCases)
    func everyItemOfABatchIsToldOnce(_ way: Way) async throws {
        let handler = ClosureHandler { request in
            request.target.hasSuffix("7")
                ? HTTPResponse(.gone, body: .bytes(Array(request.target.utf8))) : HTTPResponse(.ok)
        }
        let (server, origin, settings) = try await serve(way, handler)
        let client = HTTPClient(loops: loops)
        var batch = RequestBatch(
            .init(origin: origin, settings: settings, pathPrefix: "/3/", itemFieldNames: ["x-id"], body: [0x61]))
        for number in 0..<500 { batch.append(path: "\(number)".utf8, values: [Array("id\(number)".utf8)]) }
        let reported = Mutex<[Int: Int]>([:])
        await client.send(batch, before: soon) { portion in
            reported.withLock { reported in
                for index in portion.plainSuccesses { reported[Int(index), default: 0] += 200 }
                for answer in portion.answers {
                    reported[answer.index, default: 0] += (try? answer.result.get())?.status.code ?? 1
                }
            }
        }
        let expected = Dictionary(uniqueKeysWithValues: (0..<500).map { ($0, $0 % 10 == 7 ? 410 : 200) })
        #expect(reported.withLock { $0 } == expected)
        await client.shutDown()
        await server.shutDown()
    }

    @Test("Batches go past one that stands still", .timeLimit(.minutes(10)))
    func batchesGoPastOneThatStandsStill() async throws {
        let (arrived, release) = (Signal(), Signal())
        let handler = ClosureHandler { request in
            guard request.target == "/held" else { return HTTPResponse(.ok) }
            arrived.set()
            await release.wait()
            return HTTPResponse(.ok)
        }
        var (server, origin, settings) = try await serve(.clear1, handler)
        // One for each loop.
        settings.connectionLimit = 2
        let shared = RequestBatch.Shared(origin: origin, settings: settings, pathPrefix: "/", body: [])
        let client = HTTPClient(loops: loops)
        let (ledger, deadline) = (BatchLedger(), soon)
        async let held: Void = {
            var batch = RequestBatch(shared)
            batch.append(path: "held".utf8)
            batch.append(path: "behind".utf8)
            await client.send(batch, before: deadline) { ledger.record($0) }
        }()
        await arrived.wait()
        for _ in 0..<6 {
            var batch = RequestBatch(shared)
            batch.append(path: "free".utf8)
            await client.send(batch, before: soon) { #expect($0.plainSuccesses.count == 1) }
        }
        #expect(ledger.entries.isEmpty)
        release.set()
        await held
        #expect(ledger.entries.count == 2)
        await client.shutDown()
        await server.shutDown()
    }

    @Test(arguments: [Way.clear1, .tls2])
    func noAnswerInTimeIsSaidSoAndMayHaveBeenProcessed(_ way: Way) async throws {
        let never = Signal()
        let handler = ClosureHandler { request in
            if request.target != "/warm" { await never.wait() }
            return HTTPResponse(.ok)
        }
        var limits = ServerLimits()
        limits.shutdownTime = .milliseconds(10)
        let (server, origin, settings) = try await serve(way, handler, limits: limits)
        let client = HTTPClient(loops: loops)
        // So that the time is not spent on the connection.
        _ = try await client.send(HTTPRequest(.get, "/warm"), to: origin, settings: settings, before: soon)
        let error = await #expect(throws: TransportError.self) {
            try await client.send(
                HTTPRequest(.get, "/"), to: origin, settings: settings, before: .now + .seconds(1))
        }
        #expect(error?.kind == .timedOut)
        #expect(error?.mayHaveBeenProcessed == true)
        var batch = RequestBatch(.init(origin: origin, settings: settings, pathPrefix: "/", body: []))
        for _ in 0..<3 { batch.append(path: "x".utf8) }
        let kinds = Mutex<[TransportError.Kind]>([])
        await client.send(batch, before: .now + .seconds(1)) { portion in
            kinds.withLock { kinds in
                for answer in portion.answers {
                    if case .failure(let error) = answer.result { kinds.append(error.kind) }
                }
            }
        }
        #expect(kinds.withLock { $0 } == [.timedOut, .timedOut, .timedOut])
        never.set()
        await client.shutDown()
        await server.shutDown()
    }

    @Test(arguments: Way.allCases)
    func requestsWaitingForAMisbehavingOriginThatADeviceChoseAreNotSent(_ way: Way) async throws {
        let served = Atomic<Int>(0)
        let handler = ClosureHandler { _ in
            served.wrappingAdd(1, ordering: .relaxed)
            return HTTPResponse(.created, body: .bytes(Array(repeating: 0x61, count: 70_000)))
        }
        var limits = ServerLimits()
        limits.concurrentStreams = 1
        var (server, origin, settings) = try await serve(way, handler, limits: limits)
        settings.addresses = .publicOrLoopback
        settings.connectionLimit = 1
        let client = HTTPClient(loops: loops)
        let ledger = BatchLedger()
        var batch = RequestBatch(
            RequestBatch.Shared(origin: origin, settings: settings, pathPrefix: "/", body: Array("x".utf8)))
        for item in 0..<50 { batch.append(path: "\(item)".utf8) }
        await client.send(batch, before: soon) { ledger.record($0) }
        #expect(served.load(ordering: .relaxed) < 5)
        #expect(ledger.entries.count == 50)
        for entry in ledger.entries.values {
            guard case .failure(let error) = entry else {
                Issue.record("an answer that is too long is none")
                continue
            }
            #expect(error.kind == .misbehaved)
        }
        await client.shutDown()
        await server.shutDown()
    }

    @Test func aClosedPortIsUnreachableAndNothingWasProcessed() async throws {
        let port = try ClosedPort()
        let client = HTTPClient(loops: loops)
        let origin = HTTPOrigin(scheme: .http, host: "127.0.0.1", port: port.number)
        let error = await #expect(throws: TransportError.self) {
            try await client.send(HTTPRequest(.get, "/"), to: origin, before: soon)
        }
        #expect(error?.kind == .unreachable)
        #expect(error?.mayHaveBeenProcessed == false)
        await client.shutDown()
        withExtendedLifetime(port) {}
    }

    @Test func aNameThatDoesNotExistIsUnresolved() async throws {
        let client = HTTPClient(loops: loops)
        let error = await #expect(throws: TransportError.self) {
            let origin = HTTPOrigin(scheme: .http, host: "no-such-name.invalid")
            return try await client.send(HTTPRequest(.get, "/"), to: origin, before: soon)
        }
        #expect(error?.kind == .unresolved)
        await client.shutDown()
    }

    @Test func namesAreResolvedAndCheckedAgainstTheCertificate() async throws {
        let (server, origin, settings) = try await serve(.tls2, ClosureHandler.echo)
        let client = HTTPClient(loops: loops)
        let named = HTTPOrigin(scheme: .https, host: "localhost", port: origin.port)
        let response = try await client.send(HTTPRequest(.get, "/"), to: named, settings: settings, before: soon)
        #expect(response.status == .ok)
        await client.shutDown()
        await server.shutDown()
    }

    @Test func aRequestThatWouldSplitIsNotSent() async throws {
        let (server, origin, settings) = try await serve(.clear1, ClosureHandler.echo)
        let client = HTTPClient(loops: loops)
        for request in [
            HTTPRequest(.get, "/a b"), HTTPRequest(.get, "/\r\nX: y"),
            HTTPRequest(.get, "/", fields: ["x": "a\r\nb: c"]), HTTPRequest(.get, "/", authority: "a\r\nb"),
        ] {
            let error = await #expect(throws: TransportError.self) {
                try await client.send(request, to: origin, settings: settings, before: soon)
            }
            #expect(error?.kind == .invalidRequest)
        }
        await client.shutDown()
        await server.shutDown()
    }

    @Test(arguments: [Way.clear1, .clear2])
    func anItemOfABatchThatWouldSplitIsToldAndTheOthersAreSent(_ way: Way) async throws {
        let (server, origin, settings) = try await serve(way, ClosureHandler.echo)
        let client = HTTPClient(loops: loops)
        var batch = RequestBatch(
            RequestBatch.Shared(origin: origin, settings: settings, pathPrefix: "/", plainSuccess: .none))
        for path in ["a\r\nX: y", "b", "c d"] { batch.append(path: path.utf8, body: []) }
        let ledger = BatchLedger()
        await client.send(batch, before: soon) { ledger.record($0) }
        #expect(ledger.entries.count == 3)
        for item in [0, 2] {
            guard case .failure(let error) = ledger.entries[item] else {
                Issue.record("item \(item) was sent")
                continue
            }
            #expect(error.kind == .invalidRequest)
        }
        let reported = ledger.entries[1]
        guard case .answer(200, _, let body) = reported, body == Array("POST /b ".utf8) else {
            Issue.record("the item in between was not answered")
            return
        }
        await client.shutDown()
        await server.shutDown()
    }

    @Test(arguments: Way.allCases)
    func anAnswerIsHandedOnAsItComes(_ way: Way) async throws {
        let next = AsyncStream.makeStream(of: String.self)
        let stream = next.stream
        let ended = Signal()
        let handler = ClosureHandler { _ in
            HTTPResponse(
                .ok, fields: ["content-type": "text/event-stream"],
                body: .stream { writer in
                    defer { ended.set() }
                    for await event in stream { try await writer.write(Array(event.utf8)) }
                })
        }
        let (server, origin, settings) = try await serve(way, handler)
        let client = HTTPClient(loops: loops)
        do {
            let (head, body) = try await client.stream(
                HTTPRequest(.get, "/"), to: origin, settings: settings, before: soon)
            #expect(head.fields["content-type"] == "text/event-stream")
            var pieces = body.makeAsyncIterator()
            next.continuation.yield("one")
            #expect(try await pieces.next() == Array("one".utf8))
            next.continuation.yield("two")
            #expect(try await pieces.next() == Array("two".utf8))
        }
        // Nobody reads the body any more: the request ends, and with it the writer at the other end.
        next.continuation.yield("three")
        await ended.wait()
        await client.shutDown()
        await server.shutDown()
    }

    @Test func aStreamThatIsNotReadIsClosed() async throws {
        let (body, pieces) = AsyncThrowingStream.makeStream(
            of: [UInt8].self, bufferingPolicy: .bufferingOldest(StreamReceiver.limit))
        let receiver = StreamReceiver(pieces) { _ in }
        for _ in 0...StreamReceiver.limit { [1].withUnsafeBytes { receiver.receivedBody($0) } }
        var count = 0
        let error = await #expect(throws: TransportError.self) {
            for try await _ in body { count += 1 }
        }
        #expect(error?.kind == .disconnected)
        #expect(count == StreamReceiver.limit)
    }

    @Test func aUnixSocketIsSpokenToAsWell() async throws {
        let server = HTTPServer(loops: loops, handler: ClosureHandler.echo)
        let path = temporaryPath("client")
        try await server.listen(on: .unix(path: path))
        let client = HTTPClient(loops: loops)
        let response = try await client.send(
            HTTPRequest(.put, "/admin", body: Array("x".utf8)), toUnixPath: path, before: soon)
        #expect(String(decoding: response.bytes, as: UTF8.self) == "PUT /admin x")
        await client.shutDown()
        await server.shutDown()
    }

    /// A request that the server has and never answers, until `never` is set.
    private func unanswered() async throws -> (
        server: HTTPServer, client: HTTPClient, origin: HTTPOrigin, task: Task<HTTPResponse, any Error>, began: Signal,
        never: Signal
    ) {
        let (began, never) = (Signal(), Signal())
        let handler = ClosureHandler { _ in
            began.set()
            await never.wait()
            return HTTPResponse(.ok)
        }
        let (server, origin, settings) = try await serve(.clear1, handler)
        let client = HTTPClient(loops: loops)
        let deadline = soon
        let task = Task {
            try await client.send(HTTPRequest(.get, "/"), to: origin, settings: settings, before: deadline)
        }
        return (server, client, origin, task, began, never)
    }

    @Test func cancellingATaskEndsItsRequest() async throws {
        let (server, client, _, task, began, never) = try await unanswered()
        await began.wait()
        task.cancel()
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
        never.set()
        await client.shutDown()
        await server.shutDown()
    }

    @Test func requestsInFlightAtTheShutdownOfTheClientAreReported() async throws {
        let (server, client, origin, task, began, never) = try await unanswered()
        await began.wait()
        await client.shutDown()
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.mayHaveBeenProcessed == true)
        let late = await #expect(throws: TransportError.self) {
            try await client.send(HTTPRequest(.get, "/"), to: origin, before: soon)
        }
        #expect(late?.kind == .shutDown)
        never.set()
        await server.shutDown()
    }
}
