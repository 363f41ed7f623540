import CMartletLinux
import CMartletOpenSSL
import Glibc
import MartletHTTP
import Testing

@testable import MartletNetwork

/// However fast a peer sends, the other connections of the loop get their turns.
struct ReadTurnTests {
    /// Counts what is read in each turn of the loop, until all of it has come.
    private final class Counter: WireProtocol, ConnectionOwner {
        private let total: Int
        private let done: (Int) -> Void
        private weak var connection: Connection?
        private var turn: ContinuousClock.Instant?
        private var inTurn = 0
        private var most = 0
        private var all = 0
        /// Keeps this object, which its connection holds weakly during the handshake, until the connection ends.
        private var itself: Counter?

        init(until total: Int, done: @escaping (Int) -> Void) {
            self.total = total
            self.done = done
            itself = self
        }

        var isFinished: Bool { all >= total }

        func connectionOpened(_ connection: Connection) -> (any WireProtocol)? {
            self.connection = connection
            return self
        }

        func receive(_ bytes: UnsafeRawBufferPointer) {
            if connection?.now != turn { inTurn = 0 }
            turn = connection?.now
            inTurn += bytes.count
            most = max(most, inTurn)
            all += bytes.count
        }

        func connectionClosed(_ connection: Connection, error: NetworkError?) {}
        func write(into output: inout [UInt8], limit: Int) {}
        func inputEnded() {}
        func ended() {
            done(most)
            itself = nil
        }
        func drain() {}
    }

    @Test(arguments: [true, false]) func noConnectionReadsMoreThanItsShareInOneTurn(_ isSecure: Bool) async throws {
        let loop = try EventLoop()
        let peer = try #require(SocketAddress(address: "192.0.2.1", port: 1))
        let server = isSecure ? try TLSServerContext(TestAuthority().issue()) : nil
        var sockets: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets) == 0)
        let (ours, theirs) = (sockets[0], sockets[1])
        #expect(fcntl(ours, F_SETFL, fcntl(ours, F_GETFL) | O_NONBLOCK) == 0)
        var size: Int32 = 4 << 20
        setsockopt(theirs, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        BlockingThread {
            isSecure ? Self.sendSecurely(to: theirs) : Self.send(to: theirs)
            close(theirs)
        }.start()
        let most = await withCheckedContinuation { continuation in
            loop.enqueue {
                let counter = Counter(until: 32 << 20) { continuation.resume(returning: $0) }
                let connection = Connection(
                    Socket(owning: ours), peer: peer, isConnected: true,
                    tls: try? server?.makeSession(), loop: loop, setUpDeadline: .now + .seconds(300),
                    stallTime: .seconds(300))
                connection.start(owner: counter)
            }
        }
        #expect(most > 0)
        #expect(most <= 128 * 1024)
    }

    private static let piece = [UInt8](repeating: 0x61, count: 256 * 1024)

    private static func send(to descriptor: Int32) {
        for _ in 0..<160 {
            var rest = piece[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    private static func sendSecurely(to descriptor: Int32) {
        let context = SSL_CTX_new(TLS_client_method())
        let session = SSL_new(context)
        defer {
            SSL_free(session)
            SSL_CTX_free(context)
        }
        SSL_set_fd(session, descriptor)
        guard SSL_connect(session) == 1 else { return }
        for _ in 0..<160 where SSL_write(session, piece, Int32(piece.count)) <= 0 { return }
    }
}
