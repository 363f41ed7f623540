import Glibc
import Synchronization
import Testing

/// Stands between a program and the server of the tests, and breaks connections at the moment that matters: when the
/// server says that it has committed.
final class CuttingProxy: Sendable {
    /// The directory of its socket.
    let directory: String
    private let server: String
    private let listener: Int32
    private let cuts = Atomic(0)
    private let cutsMade = Atomic(0)
    private let refusesAfterCut = Atomic(false)
    private let refuses = Atomic(false)
    private let holdsAtCut = Atomic(false)
    private let accepted = Atomic(0)
    /// The connections up to this number pass nothing.
    private let heldThrough = Atomic(0)

    /// - Parameter server: The directory of the server's socket.
    init(before server: String) throws {
        self.server = server
        var template = Array("\(server)/proxy-XXXXXX".utf8CString)
        let path = template.withUnsafeMutableBufferPointer { buffer in buffer.baseAddress.flatMap { mkdtemp($0) } }
        directory = String(cString: try #require(path))
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let isListening = Self.withAddress("\(directory)/.s.PGSQL.5432") { bind(self.listener, $0, $1) }
        try #require(isListening == 0)
        try #require(listen(listener, 16) == 0)
        let accepting = self
        Self.thread { accepting.acceptAll() }
    }

    deinit {
        close(listener)
    }

    /// Cuts the connection instead of telling of the next COMMIT.
    /// - Parameter refuses: Whether new connections are refused from then on, until `serveAgain`.
    func cutNextCommit(andRefuse refuses: Bool = false) {
        refusesAfterCut.store(refuses, ordering: .sequentiallyConsistent)
        cuts.add(1, ordering: .sequentiallyConsistent)
    }

    /// Holds all connections back instead of telling of the next COMMIT, as if the server hung. New ones work.
    func holdAtNextCommit() {
        holdsAtCut.store(true, ordering: .sequentiallyConsistent)
        cutNextCommit()
    }

    func serveAgain() { refuses.store(false, ordering: .sequentiallyConsistent) }

    var cutCount: Int { cutsMade.load(ordering: .sequentiallyConsistent) }

    private func acceptAll() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { return }
            guard !refuses.load(ordering: .sequentiallyConsistent) else {
                close(client)
                continue
            }
            let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            guard Self.withAddress("\(server)/.s.PGSQL.5432", { connect(upstream, $0, $1) }) == 0 else { return }
            let number = accepted.add(1, ordering: .sequentiallyConsistent).newValue
            Self.thread { self.pump(client, upstream, number) }
        }
    }

    private func pump(_ client: Int32, _ upstream: Int32, _ number: Int) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        defer {
            close(client)
            close(upstream)
        }
        while true {
            var ends = [pollfd(fd: client, events: Int16(POLLIN), revents: 0)]
            ends.append(pollfd(fd: upstream, events: Int16(POLLIN), revents: 0))
            guard poll(&ends, 2, -1) > 0 else { return }
            for (from, to) in [(0, upstream), (1, client)] where ends[from].revents != 0 {
                if number <= heldThrough.load(ordering: .sequentiallyConsistent) { poll(nil, 0, -1) }
                let count = read(ends[from].fd, &buffer, buffer.count)
                guard count > 0 else { return }
                if from == 1, cuts.load(ordering: .sequentiallyConsistent) > 0, Self.tellsOfCommit(buffer[..<count]) {
                    cuts.subtract(1, ordering: .sequentiallyConsistent)
                    if refusesAfterCut.load(ordering: .sequentiallyConsistent) {
                        refuses.store(true, ordering: .sequentiallyConsistent)
                    }
                    cutsMade.add(1, ordering: .sequentiallyConsistent)
                    guard holdsAtCut.exchange(false, ordering: .sequentiallyConsistent) else { return }
                    let last = accepted.load(ordering: .sequentiallyConsistent)
                    heldThrough.store(last, ordering: .sequentiallyConsistent)
                    poll(nil, 0, -1)
                }
                var written = 0
                while written < count {
                    let more = buffer.withUnsafeBytes {
                        write(to, $0.baseAddress?.advanced(by: written), count - written)
                    }
                    guard more > 0 else { return }
                    written += more
                }
            }
        }
    }

    private static func tellsOfCommit(_ bytes: ArraySlice<UInt8>) -> Bool {
        let word = Array("COMMIT\u{0}".utf8)
        return bytes.indices.contains { bytes[$0...].starts(with: word) }
    }

    private static func thread(_ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(ThreadBody(body))
        var id = pthread_t()
        pthread_create(
            &id, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, box.toOpaque())
        pthread_detach(id)
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

private final class ThreadBody: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}
