import Glibc
import Synchronization

/// Breaks a connection from another thread, so that a call on it that waits for the server fails. A server that hangs
/// still acknowledges what it is sent, so that no time limit of the connection ends the call.
public final class ConnectionBreak: Sendable {
    private struct State {
        /// A duplicate of the connection's descriptor, because libpq closes its own without notice; nil if there is no
        /// connection.
        var descriptor: Int32?
        var isBroken = false
    }

    private let state = Mutex(State())

    public init() {}

    /// Breaks the connection, or the next one if there is none.
    public func perform() {
        state.withLock { state in
            state.isBroken = true
            if let descriptor = state.descriptor { Self.shutDown(descriptor) }
        }
    }

    /// Begins to watch over a connection.
    /// - Returns: False if the process has no descriptor left.
    func attach(to socket: Int32) -> Bool {
        let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return false }
        state.withLock { state in
            state.descriptor = descriptor
            if state.isBroken { Self.shutDown(descriptor) }
        }
        return true
    }

    /// Called before the connection is closed.
    func detach() {
        state.withLock { state in
            if let descriptor = state.descriptor { close(descriptor) }
            state.descriptor = nil
        }
    }

    private static func shutDown(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
}
