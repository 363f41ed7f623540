import MartletHTTP

/// Reads the PROXY protocol header of a connection that a proxy opened.
///
/// Owned by its loop.
///
/// No byte after the header is read from the socket, because the TLS session reads from the socket directly.
final class ProxyHeaderReader: ReadinessHandler {
    private let loop: EventLoop
    private var socket: Socket
    private var received: [UInt8] = []
    private var registration: Registration?
    private var timer: TimerID?
    /// Called once, with the socket's descriptor and the header, or with nil if the connection has no valid header.
    private var completed: ((Int32, ProxyHeader)?) -> Void

    /// Creates a reader for one connection.
    /// - Parameter completed: Called once, with the socket's descriptor and the header. The receiver then owns the
    ///   descriptor. Called with nil if the connection has no valid header.
    init(_ socket: consuming Socket, loop: EventLoop, completed: @escaping ((Int32, ProxyHeader)?) -> Void) {
        self.loop = loop
        self.socket = socket
        self.completed = completed
    }

    func start(deadline: ContinuousClock.Instant) {
        registration = try? loop.register(socket.descriptor, for: .read, handler: self)
        guard registration != nil else { return end(nil) }
        timer = loop.startTimer(due: deadline) { [weak self] in
            self?.timer = nil
            self?.end(nil)
        }
    }

    /// Closes the connection, and calls `completed` with nil.
    func cancel() { end(nil) }

    func ready(_ readiness: Readiness) {
        let peeked: [UInt8]? = loop.withInputBuffer { buffer in
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(ProxyHeader.byteLimit))
            switch socket.peek(into: room) {
            case .bytes(let count): return Array(room.prefix(count))
            case .wouldBlock: return []
            case .ended, .failed: return nil
            }
        }
        guard let peeked else { return end(nil) }
        guard !peeked.isEmpty else { return }
        switch ProxyHeader.read(received + peeked) {
        case .malformed: end(nil)
        case .incomplete:
            take(peeked.count)
            received += peeked
        case .header(let header):
            take(header.byteCount - received.count)
            end(header)
        }
    }

    /// Removes the next `count` bytes from the socket, after they were read with `peek`.
    private func take(_ count: Int) {
        loop.withInputBuffer { buffer in
            _ = socket.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(count)))
        }
    }

    private func end(_ header: ProxyHeader?) {
        if let registration { loop.unregister(registration) }
        if let timer { loop.cancelTimer(timer) }
        (registration, timer) = (nil, nil)
        let completed = completed
        self.completed = { _ in }
        var ended = Socket(owning: -1)
        swap(&ended, &socket)
        guard let header else { return completed(nil) }
        completed((ended.release(), header))
    }
}
