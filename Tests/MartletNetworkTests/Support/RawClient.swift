import CMartletLinux
import Glibc

@testable import MartletNetwork

/// A client that sends exactly the bytes it is told to. Blocks, so whatever waits does so on a thread of its own.
enum RawClient {
    /// Connects, sends, and reads until the peer closes (or ten minutes have gone without a byte).
    static func exchange(_ address: SocketAddress, _ pieces: [String]) async -> String {
        await withCheckedContinuation { continuation in
            BlockingThread {
                guard let connection = try? Connection(address) else {
                    return continuation.resume(returning: "not connected")
                }
                for piece in pieces { connection.send(piece) }
                var all = ""
                while let more = connection.read() { all += more }
                connection.close()
                continuation.resume(returning: all)
            }.start()
        }
    }

    static func bind(_ descriptor: Int32, _ address: SocketAddress) -> Int32 {
        address.withPointer { Glibc.bind(descriptor, $0, $1) }
    }

    /// A blocking connection.
    struct Connection: Sendable {
        private let descriptor: Int32

        /// - Parameter source: The address to come from; nil for any.
        init(_ address: SocketAddress, from source: SocketAddress? = nil) throws(NetworkError) {
            let domain = address.family == .unix ? AF_UNIX : address.family == .ipv4 ? AF_INET : AF_INET6
            descriptor = socket(domain, Int32(SOCK_STREAM.rawValue), 0)
            var limit = timeval(tv_sec: 600, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            let descriptor = descriptor
            if let source { _ = RawClient.bind(descriptor, source) }
            guard address.withPointer({ connect(descriptor, $0, $1) }) == 0 else {
                let error = NetworkError.system("connect")
                Glibc.close(descriptor)
                throw error
            }
        }

        func send(_ text: String) {
            send(Array(text.utf8))
        }

        func send(_ bytes: [UInt8]) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }

        /// What comes next; nil at the end.
        func read() -> String? {
            readBytes().map { String(decoding: $0, as: UTF8.self) }
        }

        private func readBytes() -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 16 * 1024)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            return count > 0 ? Array(buffer[..<count]) : nil
        }

        /// What comes next, until bytes end it, or the peer does.
        func receiveBytes(until end: [UInt8]) async -> [UInt8] {
            await withCheckedContinuation { continuation in
                BlockingThread {
                    var all: [UInt8] = []
                    while end.isEmpty || all.suffix(end.count) != end[...], let more = readBytes() { all += more }
                    continuation.resume(returning: all)
                }.start()
            }
        }

        /// What comes next, until a text ends it; empty at the end.
        func receive(until end: String = "") async -> String {
            await withCheckedContinuation { continuation in
                BlockingThread {
                    var all = ""
                    repeat {
                        guard let more = read() else { break }
                        all += more
                    } while !all.hasSuffix(end)
                    continuation.resume(returning: all)
                }.start()
            }
        }

        /// Throws away what comes, on another thread.
        func keepReading() {
            BlockingThread { while read() != nil {} }.start()
        }

        func close() {
            shutdown(descriptor, Int32(SHUT_RDWR))
            Glibc.close(descriptor)
        }

        /// Closes with a reset.
        func reset() {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
            Glibc.close(descriptor)
        }
    }
}

/// A thread for calls that block.
struct BlockingThread {
    private final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    func start() {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Box(body))
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        precondition(result == 0, "no thread")
        pthread_detach(thread)
    }
}
