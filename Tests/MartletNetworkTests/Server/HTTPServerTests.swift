import Glibc
import MartletHTTP
import Synchronization
import Testing

@testable import MartletNetwork

struct HTTPServerTests {
    private let loops: EventLoopGroup

    init() throws {
        loops = try EventLoopGroup(count: 2)
    }

    @Test func answersOverARealSocketAndKeepsTheConnection() async throws {
        let server = HTTPServer(loops: loops, handler: ClosureHandler.echo)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        #expect(address.port != 0)
        let answer = await RawClient.exchange(
            address,
            [
                "GET /one HTTP/1.1\r\nHost: a\r\n\r\nPOST /two HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
                "GET /three HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            ])
        #expect(answer.components("HTTP/1.1 200 OK") == 3)
        #expect(answer.contains("GET /one HTTP/1.1"))
        #expect(answer.contains("POST /two hi"))
        #expect(answer.hasSuffix("GET /three "))
        await server.shutDown()
    }

    @Test func aBodyOfMegabytesIsStreamedInAndOut() async throws {
        let server = HTTPServer(loops: loops, handler: StreamEcho())
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let size = 3_000_000
        let answer = await RawClient.exchange(
            address,
            [
                "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\nConnection: close\r\n\r\n",
                String(repeating: "m", count: size),
            ])
        #expect(answer.contains("content-length: \(size)\r\n"))
        #expect(answer.utf8.count { $0 == UInt8(ascii: "m") } >= size)
        #expect(answer.hasSuffix("mmmm"))
        await server.shutDown()
    }

    @Test func listensOnIPv6AndOnAUnixSocketOnlyForItsUser() async throws {
        let server = HTTPServer(loops: loops, handler: ClosureHandler.echo)
        let request = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        let six = try await server.listen(on: .tcp(host: "::1", port: 0))
        #expect(await RawClient.exchange(six, [request]).hasSuffix("GET /x "))

        let path = temporaryPath("socket")
        let unix = try await server.listen(on: .unix(path: path))
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(await RawClient.exchange(unix, [request]).hasSuffix("GET /x "))

        await #expect(throws: NetworkError.self) {
            let other = HTTPServer(loops: loops, handler: ClosureHandler.echo)
            try await other.listen(on: .unix(path: path))
        }
        await server.shutDown()
        #expect(stat(path, &status) != 0)
    }

    @Test func aUnixSocketOfAGroupIsOpenToItsMembersAndARequestSaysWhoseItIs() async throws {
        let path = temporaryPath("group")
        let server = HTTPServer(
            loops: loops,
            handler: ClosureHandler { request in
                HTTPResponse(.ok, body: .bytes(Array("user \(request.connection?.user ?? 4711)".utf8)))
            })
        let address = try await server.listen(on: .unix(path: path, access: .group))
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o660)
        let answer = await RawClient.exchange(address, ["GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"])
        #expect(answer.hasSuffix("user \(geteuid())"))
        await server.shutDown()
    }

    @Test func aUnixSocketServesItsOwnUserAndRootOnly() {
        #expect(ListeningSocket.mayConnect(user: Int64(geteuid())))
        #expect(ListeningSocket.mayConnect(user: 0))
        #expect(!ListeningSocket.mayConnect(user: Int64(geteuid()) + 1))
        #expect(!ListeningSocket.mayConnect(user: -1))
    }

    @Test func aRequestWhoseClientHasGoneFromAUnixSocketIsCancelled() async throws {
        let began = Signal()
        let cancelled = Signal()
        let handler = ClosureHandler { _ in
            await withTaskCancellationHandler {
                began.set()
                await cancelled.wait()
            } onCancel: {
                cancelled.set()
            }
            return HTTPResponse(.ok)
        }
        let server = HTTPServer(loops: loops, handler: handler)
        let address = try await server.listen(on: .unix(path: temporaryPath("gone")))
        let client = try RawClient.Connection(address)
        client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        await began.wait()
        client.close()
        await cancelled.wait()
        await server.shutDown()
    }

    @Test func aSocketFileThatADeadProcessLeftIsReplacedAndAnotherFileIsNot() async throws {
        let path = temporaryPath("stale")
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let address = try #require(SocketAddress(unixPath: path))
        #expect(RawClient.bind(descriptor, address) == 0)
        close(descriptor)
        let server = HTTPServer(loops: loops, handler: ClosureHandler.echo)
        try await server.listen(on: .unix(path: path))
        await server.shutDown()

        let file = temporaryPath("file")
        close(open(file, O_CREAT | O_WRONLY, 0o600))
        await #expect(throws: NetworkError.self) { try await server.listen(on: .unix(path: file)) }
        var status = stat()
        #expect(stat(file, &status) == 0)
        unlink(file)
    }

    @Test func aPortThatIsTakenIsAnError() async throws {
        let server = HTTPServer(loops: loops, handler: ClosureHandler.echo)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        await #expect(throws: NetworkError.self) {
            try await server.listen(on: .tcp(host: "127.0.0.1", port: address.port))
        }
        await server.shutDown()
    }

    @Test func aBodyTooLargeIsRefusedWhileItIsStillBeingSent() async throws {
        let server = HTTPServer(loops: loops, handler: ClosureHandler.echo)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let body = String(repeating: "a", count: 200_000)
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n"
        // The answer is read although the client has sent all of its body first: the server reads it and lets it go.
        #expect(await RawClient.exchange(address, [head, body]).hasPrefix("HTTP/1.1 413 "))
        await server.shutDown()
    }

    @Test func slowClientsAreToldAndClosed() async throws {
        var limits = ServerLimits()
        limits.headTime = .milliseconds(50)
        limits.bodyTime = .milliseconds(50)
        limits.idleTime = .milliseconds(50)
        let server = HTTPServer(loops: loops, handler: ClosureHandler.echo, limits: limits)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        #expect(await RawClient.exchange(address, ["GET / HT"]).hasPrefix("HTTP/1.1 408 "))
        let body = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"
        #expect(await RawClient.exchange(address, [body]).hasPrefix("HTTP/1.1 408 "))
        #expect(await RawClient.exchange(address, []).isEmpty)
        #expect(await RawClient.exchange(address, ["PRI * HT"]).isEmpty)
        let idle = await RawClient.exchange(address, ["GET /idle HTTP/1.1\r\nHost: a\r\n\r\n"])
        #expect(idle.hasSuffix("GET /idle "))
        await server.shutDown()
    }

    @Test func aStreamWaitsForAReaderThatIsSlowAndEndsWithIt() async throws {
        var limits = ServerLimits()
        limits.stallTime = .milliseconds(200)
        let ended = Signal()
        let box = SharedCounter()
        let handler = ClosureHandler { _ in
            HTTPResponse(
                .ok,
                body: .stream { writer in
                    defer { ended.set() }
                    while true {
                        try await writer.write([UInt8](repeating: 0x61, count: 10_000))
                        box.add(10_000)
                    }
                })
        }
        let server = HTTPServer(loops: loops, handler: handler, limits: limits)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        // Reads the first piece and then nothing, until the server gives up and the writer is cancelled.
        let client = try RawClient.Connection(address)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(await client.receive().hasPrefix("HTTP/1.1 200 OK"))
        await ended.wait()
        #expect(box.value < 64 * 1024 * 1024)
        client.close()
        await server.shutDown()
    }

    @Test func eventsReachTheClientAsTheyAreWritten() async throws {
        let next = AsyncStream.makeStream(of: String.self)
        let stream = next.stream
        let handler = ClosureHandler { _ in
            HTTPResponse(
                .ok, fields: ["content-type": "text/event-stream"],
                body: .stream { writer in
                    for await event in stream { try await writer.write(Array("data: \(event)\n\n".utf8)) }
                })
        }
        let server = HTTPServer(loops: loops, handler: handler)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let client = try RawClient.Connection(address)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(await client.receive(until: "\r\n\r\n").contains("transfer-encoding: chunked"))
        next.continuation.yield("one")
        #expect(await client.receive(until: "\n\n\r\n").hasSuffix("\r\ndata: one\n\n\r\n"))
        next.continuation.yield("two")
        #expect(await client.receive(until: "\n\n\r\n").hasSuffix("\r\ndata: two\n\n\r\n"))
        next.continuation.finish()
        #expect(await client.receive(until: "0\r\n\r\n") == "0\r\n\r\n")
        client.close()
        await server.shutDown()
    }

    @Test func aPeerThatLeavesCancelsItsHandler() async throws {
        let began = Signal()
        let cancelled = Signal()
        let handler = ClosureHandler { _ in
            await withTaskCancellationHandler {
                began.set()
                await cancelled.wait()
            } onCancel: {
                cancelled.set()
            }
            return HTTPResponse(.ok)
        }
        let server = HTTPServer(loops: loops, handler: handler)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let client = try RawClient.Connection(address)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        await began.wait()
        client.reset()
        await cancelled.wait()
        await server.shutDown()
    }

    @Test func shuttingDownAnswersWhatRunsAndRefusesWhatComes() async throws {
        let began = Signal()
        let goOn = Signal()
        let handler = ClosureHandler { _ in
            began.set()
            await goOn.wait()
            return HTTPResponse(.ok, body: .bytes(Array("done".utf8)))
        }
        // On a busy machine the idle connections must not come to their end before the shutdown.
        var limits = ServerLimits()
        limits.headTime = .seconds(600)
        limits.idleTime = .seconds(600)
        limits.shutdownTime = .seconds(600)
        let server = HTTPServer(loops: loops, handler: handler, limits: limits)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let running = Task { await server.run() }
        // One for each loop.
        let idle = try RawClient.Connection(address)
        let otherIdle = try RawClient.Connection(address)
        async let answer = RawClient.exchange(address, ["GET / HTTP/1.1\r\nHost: a\r\n\r\n"])
        await began.wait()
        running.cancel()
        // The idle connection is closed at once, which shows that the shutdown has begun.
        #expect(await idle.receive().isEmpty)
        #expect(await otherIdle.receive().isEmpty)
        #expect(throws: NetworkError.self) { try RawClient.Connection(address) }
        goOn.set()
        let text = await answer
        #expect(text.contains("connection: close"))
        #expect(text.hasSuffix("done"))
        idle.close()
        otherIdle.close()
        await running.value
    }

    @Test func requestsThatDoNotEndAreCutOffWhenTheShutdownTakesTooLong() async throws {
        var limits = ServerLimits()
        limits.shutdownTime = .milliseconds(50)
        let began = Signal()
        let never = Signal()
        let handler = ClosureHandler { _ in
            began.set()
            await never.wait()
            return HTTPResponse(.ok)
        }
        let server = HTTPServer(loops: loops, handler: handler, limits: limits)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        async let answer = RawClient.exchange(address, ["GET / HTTP/1.1\r\nHost: a\r\n\r\n"])
        await began.wait()
        await server.shutDown()
        #expect(await answer.isEmpty)
        never.set()
    }

    @Test func connectionsAboveTheLimitWaitWhileAllOthersAreAnswered() async throws {
        var limits = ServerLimits()
        limits.connections = 1
        let (begun, answered) = (Signal(), Signal())
        let handler = ClosureHandler { request in
            guard request.target == "/1" else { return HTTPResponse(.ok) }
            begun.set()
            await answered.wait()
            return HTTPResponse(.ok)
        }
        let server = HTTPServer(loops: loops, handler: handler, limits: limits)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let first = try RawClient.Connection(address)
        first.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
        await begun.wait()
        async let second = RawClient.exchange(
            address, ["GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"])
        answered.set()
        #expect(await first.receive().hasPrefix("HTTP/1.1 200"))
        #expect(await second.hasPrefix("HTTP/1.1 200"))
        first.close()
        await server.shutDown()
    }

    @Test func theLongestIdleConnectionMakesRoomForANewOne() async throws {
        var limits = ServerLimits()
        limits.connections = 3
        let server = HTTPServer(loops: loops, handler: ClosureHandler.echo, limits: limits)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        var idle: [RawClient.Connection] = []
        for number in 1...20 {
            let connection = try RawClient.Connection(address)
            connection.send("GET /\(number) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await connection.receive(until: "/\(number) ").hasSuffix("GET /\(number) "))
            idle.append(connection)
        }
        #expect(await idle[0].receive().isEmpty)
        for connection in idle { connection.close() }
        await server.shutDown()
    }

    @Test func anAddressHasItsShareOfTheConnectionsAndOthersAreServed() async throws {
        var limits = ServerLimits()
        limits.countsLoopback = true
        limits.connectionsPerNetwork = 2
        let never = Signal()
        let handler = ClosureHandler { request in
            if request.target == "/wait" { await never.wait() }
            return HTTPResponse(.ok)
        }
        let server = HTTPServer(loops: loops, handler: handler, limits: limits)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let greedy = try #require(SocketAddress(address: "127.0.0.7", port: 0))
        var held: [RawClient.Connection] = []
        for _ in 0..<2 {
            let connection = try RawClient.Connection(address, from: greedy)
            connection.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
            held.append(connection)
        }
        let third = try RawClient.Connection(address, from: greedy)
        #expect(await third.receive().isEmpty)
        let modest = try #require(SocketAddress(address: "127.0.0.8", port: 0))
        let other = try RawClient.Connection(address, from: modest)
        other.send("GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(await other.receive().hasPrefix("HTTP/1.1 200"))
        #expect(server.connectionRefusals == [.share: 1])
        never.set()
        for connection in held + [third, other] { connection.close() }
        await server.shutDown()
    }

    @Test func handlersRunOnTheLoopOfTheirConnection() async throws {
        let loops = try EventLoopGroup(count: 1)
        let loop = loops.loops[0]
        let handler = ClosureHandler { _ in
            let before = loop.isCurrent
            await Task.yield()
            return HTTPResponse(.ok, body: .bytes(Array("\(before) \(loop.isCurrent)".utf8)))
        }
        let server = HTTPServer(loops: loops, handler: handler)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let answer = await RawClient.exchange(address, ["GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"])
        #expect(answer.hasSuffix("true true"))
        await server.shutDown()
    }

    @Test func aConnectionThatSendsWithoutEndDoesNotStarveOthers() async throws {
        let loops = try EventLoopGroup(count: 1)
        let server = HTTPServer(loops: loops, handler: ClosureHandler.echo)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0))
        let isOver = SharedCounter()
        let flood = BlockingThread {
            let request = String(repeating: "GET /flood HTTP/1.1\r\nHost: a\r\n\r\n", count: 500)
            guard let client = try? RawClient.Connection(address) else { return }
            client.keepReading()
            while isOver.value == 0 { client.send(request) }
            client.close()
        }
        flood.start()
        for _ in 0..<20 {
            let answer = await RawClient.exchange(
                address, ["GET /calm HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"])
            #expect(answer.hasSuffix("GET /calm "))
        }
        isOver.add(1)
        await server.shutDown()
    }
}

/// A number that several threads add to.
final class SharedCounter: Sendable {
    private let number = Atomic<Int>(0)

    var value: Int { number.load(ordering: .relaxed) }

    func add(_ count: Int) {
        number.wrappingAdd(count, ordering: .relaxed)
    }
}

func temporaryPath(_ name: String) -> String {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    return "\(folder)/martlet-\(getpid())-\(UInt32.random(in: 0 ... .max))-\(name)"
}

extension String {
    /// How often a text occurs.
    func components(_ text: String) -> Int {
        var count = 0
        var rest = self[...]
        while let range = rest.firstRange(of: text) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
