import MartletHTTP
import Synchronization

/// A server's connections on one loop. Owned by that loop.
final class LoopServer: ConnectionOwner {
    private let loop: EventLoop
    private let limits: ServerLimits
    private let handler: any HTTPHandler
    private let count: ConnectionCount
    private var connections: [UInt64: Connection] = [:]
    private var isDraining = false
    private var drained: [() -> Void] = []

    init(loop: EventLoop, handler: any HTTPHandler, limits: ServerLimits, count: ConnectionCount) {
        self.loop = loop
        self.limits = limits
        self.handler = handler
        self.count = count
    }

    /// Takes over a connection that was counted when it was accepted.
    func adopt(_ socket: consuming Socket, peer: SocketAddress, tls: TLSServerContext?) {
        guard !isDraining else {
            count.release()
            return
        }
        let session: TLSSession?
        do throws(NetworkError) {
            session = try tls?.makeSession()
        } catch {
            count.release()
            return
        }
        let connection = Connection(
            socket, peer: peer, isConnected: true, tls: session, loop: loop,
            setUpDeadline: loop.now + limits.handshakeTime, stallTime: limits.stallTime)
        connections[connection.id] = connection
        connection.start(owner: self)
    }

    func connectionOpened(_ connection: Connection) -> (any WireProtocol)? {
        let dispatch = HandlerDispatch(handler, loop: loop)
        let limits = limits
        let http1 = { [unowned connection] in
            HTTP1Server(connection, info: connection.info(majorVersion: 1), dispatch: dispatch, limits: limits)
        }
        return http1()
    }

    func connectionClosed(_ connection: Connection, error: NetworkError?) {
        connections.removeValue(forKey: connection.id)
        count.release()
        if isDraining, connections.isEmpty { tellDrained() }
    }

    /// Lets every connection finish what it is answering, for as long as the limits say.
    func drain(_ completed: @escaping () -> Void) {
        drained.append(completed)
        guard !isDraining else { return }
        isDraining = true
        guard !connections.isEmpty else { return tellDrained() }
        for connection in connections.values {
            if let wire = connection.wire {
                wire.drain()
                connection.needsWrite()
            } else {
                connection.close(nil)
            }
        }
        _ = loop.startTimer(due: loop.now + limits.shutdownTime) { self.closeAll() }
    }

    private func closeAll() {
        for connection in connections.values { connection.close(nil) }
    }

    private func tellDrained() {
        let told = drained
        drained = []
        for completed in told { completed() }
    }
}

/// How many connections a server has over all its loops.
final class ConnectionCount: Sendable {
    private let count = Atomic<Int>(0)
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    var isFull: Bool { count.load(ordering: .relaxed) >= limit }

    func acquire() {
        count.wrappingAdd(1, ordering: .relaxed)
    }

    func release() {
        count.wrappingSubtract(1, ordering: .relaxed)
    }
}
