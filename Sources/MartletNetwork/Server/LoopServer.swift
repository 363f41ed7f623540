import MartletHTTP
import Synchronization

/// A server's connections on one loop. Owned by that loop.
final class LoopServer: ConnectionOwner {
    /// What all connections of a server have in common.
    struct Common: Sendable {
        let handler: any HTTPHandler
        let limits: ServerLimits
        let http2: HTTP2Settings
        let observer: (any ConnectionObserver)?
        let count: ConnectionCount
    }

    private let loop: EventLoop
    private let common: Common
    private var connections: [UInt64: Connection] = [:]
    private var isDraining = false
    private var drained: [() -> Void] = []

    private var limits: ServerLimits { common.limits }
    private var count: ConnectionCount { common.count }

    init(loop: EventLoop, common: Common) {
        self.loop = loop
        self.common = common
    }

    /// Takes over a connection that was counted when it was accepted.
    func adopt(_ socket: consuming Socket, peer: SocketAddress, tls: (@Sendable () -> TLSServerContext)?) {
        guard !isDraining else {
            count.release()
            return
        }
        let session: TLSSession?
        do throws(NetworkError) {
            session = try tls?().makeSession()
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
        switch connection.selectedProtocol {
        case "h2": makeHTTP2(connection)
        case .some: makeHTTP1(connection)
        case nil:
            ProtocolSelector(deadline: loop.now + limits.headTime) { [unowned connection] in
                self.makeHTTP1(connection)
            } http2: { [unowned connection] in
                self.makeHTTP2(connection)
            }
        }
    }

    private func makeHTTP1(_ connection: Connection) -> any WireProtocol {
        let info = connection.info(majorVersion: 1)
        if let observer = common.observer {
            observer.opened(ConnectionControl(connection, info: info, isHTTP2: false))
        }
        return HTTP1Server(
            connection, info: info, dispatch: HandlerDispatch(common.handler, loop: loop), limits: limits)
    }

    private func makeHTTP2(_ connection: Connection) -> any WireProtocol {
        let info = connection.info(majorVersion: 2)
        let control = common.observer.map { observer in
            let control = ConnectionControl(connection, info: info, isHTTP2: true)
            observer.opened(control)
            return control
        }
        return HTTP2ServerSession(
            connection: connection, dispatch: HandlerDispatch(common.handler, loop: loop), info: info, limits: limits,
            settings: common.http2, control: control?.http2)
    }

    func connectionClosed(_ connection: Connection, error: NetworkError?) {
        connections.removeValue(forKey: connection.id)
        count.release()
        common.observer?.closed(connection.id)
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

    var current: Int { count.load(ordering: .relaxed) }

    var isFull: Bool { count.load(ordering: .relaxed) >= limit }

    func acquire() {
        count.wrappingAdd(1, ordering: .relaxed)
    }

    func release() {
        count.wrappingSubtract(1, ordering: .relaxed)
    }
}
