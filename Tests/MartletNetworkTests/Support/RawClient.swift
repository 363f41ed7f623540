import CMartletLinux
import Glibc

@testable import MartletNetwork

/// A client that sends exactly the bytes it is told to. Blocks, so it runs on a thread of its own.
enum RawClient {
    /// Connects, sends, and reads until the peer closes (or `until` stands in what was read, or ten seconds have gone).
    static func exchange(
        _ address: SocketAddress, _ pieces: [String], endsInput: Bool = false, until: String? = nil
    ) async -> String {
        await withCheckedContinuation { continuation in
            let thread = BlockingThread {
                continuation.resume(returning: blocking(address, pieces, endsInput: endsInput, until: until))
            }
            thread.start()
        }
    }

    private static func blocking(
        _ address: SocketAddress, _ pieces: [String], endsInput: Bool, until: String?
    ) -> String {
        let domain = address.family == .unix ? AF_UNIX : address.family == .ipv4 ? AF_INET : AF_INET6
        let descriptor = socket(domain, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard address.withPointer({ connect(descriptor, $0, $1) }) == 0 else { return "not connected" }
        for piece in pieces {
            var piece = piece
            _ = piece.withUTF8 { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }
        if endsInput { shutdown(descriptor, Int32(SHUT_WR)) }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            received.append(contentsOf: buffer[..<count])
            if let until, String(decoding: received, as: UTF8.self).contains(until) { break }
        }
        return String(decoding: received, as: UTF8.self)
    }
}

/// A thread for calls that block.
struct BlockingThread {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    func start() {
        final class Box {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
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
