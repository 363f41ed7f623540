import MartletHTTP
import Testing

@testable import MartletNetwork

/// Listeners for proxies that name the client by the PROXY protocol.
struct ProxyProtocolTests {
    private let loops: EventLoopGroup
    private static let line = "PROXY TCP4 203.0.113.9 10.0.0.1 50000 443\r\n"
    private static let request = "GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    init() throws {
        loops = try EventLoopGroup(count: 2)
    }

    /// A server that answers with the peer and the proxy of the connection.
    private func server(
        trusting list: String = "loopback", _ change: (inout ServerLimits) -> Void = { _ in }
    ) async throws -> (HTTPServer, SocketAddress) {
        var limits = ServerLimits()
        limits.trustedProxies = try TrustedProxies(list)
        change(&limits)
        let handler = ClosureHandler { request in
            let connection = request.connection
            let text = "\(connection?.peer ?? "") by \(connection?.proxy ?? "nobody")"
            return HTTPResponse(.ok, body: .bytes(Array(text.utf8)))
        }
        let server = HTTPServer(loops: loops, handler: handler, limits: limits)
        return (server, try await server.listen(on: .tcp(host: "127.0.0.1", port: 0), proxyProtocol: true))
    }

    @Test func theClientIsWhomTheProxyNames() async throws {
        let (server, address) = try await server()
        let answer = await RawClient.exchange(address, [Self.line + Self.request])
        #expect(answer.hasSuffix("203.0.113.9 by 127.0.0.1"), "\(answer)")
        await server.shutDown()
    }

    @Test func aHeaderThatComesByteByByteIsRead() async throws {
        let (server, address) = try await server()
        let answer = await RawClient.exchange(address, (Self.line + Self.request).map(String.init))
        #expect(answer.hasSuffix("203.0.113.9 by 127.0.0.1"), "\(answer)")
        await server.shutDown()
    }

    @Test func aConnectionOfTheProxyItselfKeepsItsAddress() async throws {
        let (server, address) = try await server()
        let answer = await RawClient.exchange(address, ["PROXY UNKNOWN\r\n" + Self.request])
        #expect(answer.hasSuffix("127.0.0.1 by nobody"), "\(answer)")
        await server.shutDown()
    }

    @Test func onlyTheOwnerMayConnect() async throws {
        let (server, address) = try await server(trusting: "10.0.0.0/8")
        #expect(await RawClient.exchange(address, [Self.line + Self.request]).isEmpty)
        #expect(server.connectionRefusals == [.untrustedProxy: 1])
        await server.shutDown()
    }

    @Test func aConnectionWithoutAHeaderIsClosed() async throws {
        let (server, address) = try await server()
        #expect(await RawClient.exchange(address, [Self.request]).isEmpty)
        #expect(server.connectionRefusals == [.proxyHeader: 1])
        #expect(server.connectionCount == 0)
        await server.shutDown()
    }

    @Test func aHeaderThatDoesNotEndIsNotWaitedForLong() async throws {
        let (server, address) = try await server { $0.proxyHeaderTime = .milliseconds(50) }
        #expect(await RawClient.exchange(address, ["PROXY TCP4 203.0"]).isEmpty)
        #expect(server.connectionRefusals == [.proxyHeader: 1])
        await server.shutDown()
    }

    @Test func theSharesAreThoseOfTheClientsNotOfTheProxy() async throws {
        let never = Signal()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        var requests = arrivals.makeAsyncIterator()
        var limits = ServerLimits()
        limits.trustedProxies = try TrustedProxies("loopback")
        limits.connectionsPerNetwork = 2
        let handler = ClosureHandler { request in
            if request.target == "/wait" {
                arrived.yield()
                await never.wait()
            }
            return HTTPResponse(.ok)
        }
        let server = HTTPServer(loops: loops, handler: handler, limits: limits)
        let address = try await server.listen(on: .tcp(host: "127.0.0.1", port: 0), proxyProtocol: true)
        var held: [RawClient.Connection] = []
        for number in 0..<3 {
            let connection = try RawClient.Connection(address)
            connection.send(Self.line + "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
            // The third is above the share, once the first two are counted, which each loop does on its own.
            if number == 2 { #expect(await connection.receive().isEmpty) } else { await requests.next() }
            held.append(connection)
        }
        #expect(server.connectionRefusals == [.share: 1])
        let other = await RawClient.exchange(address, ["PROXY TCP4 203.0.113.10 10.0.0.1 5 443\r\n" + Self.request])
        #expect(other.hasPrefix("HTTP/1.1 200"), "\(other)")
        never.set()
        for connection in held { connection.close() }
        await server.shutDown()
    }

    @Test func aShutdownDoesNotWaitForHeaders() async throws {
        let (server, address) = try await server { $0.proxyHeaderTime = .seconds(600) }
        let connection = try RawClient.Connection(address)
        connection.send("PROXY ")
        while server.connectionCount == 0 { await Task.yield() }
        await server.shutDown()
        #expect(await connection.receive().isEmpty)
        connection.close()
    }
}
