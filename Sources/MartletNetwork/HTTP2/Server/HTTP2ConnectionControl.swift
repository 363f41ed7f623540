public import MartletHTTP
import Synchronization

/// Steers one HTTP/2 connection of a server from any thread: what the answer to a request alone cannot say.
///
/// Commands are carried out in order, before anything that is answered after they were given.
public final class HTTP2ConnectionControl: Sendable {
    enum Command: Sendable {
        case announce(streamLimit: UInt32)
        case announceWindow(bytes: UInt32)
        case goAway(last: Int32?, code: HTTP2ErrorCode, debugData: [UInt8], finishes: Bool)
        case reset(stream: Int32, code: HTTP2ErrorCode)
        case withholdWindows(Bool)
        case goSilent
        case close
    }

    /// Which connection this is: `HTTPRequest.connection` has the same id.
    public let connection: HTTPConnection
    private let commands = Mutex<[Command]>([])
    private let wake: @Sendable () -> Void

    /// - Parameter wake: Makes the connection's loop ask the session to write; may be called on any thread.
    init(connection: HTTPConnection, wake: @escaping @Sendable () -> Void) {
        self.connection = connection
        self.wake = wake
    }

    /// Announces how many requests the peer may have open at once. Requests above it are answered
    /// REFUSED_STREAM until the peer has acknowledged the limit, GOAWAY after.
    public func announce(streamLimit: UInt32) {
        give(.announce(streamLimit: streamLimit))
    }

    /// Announces how many bytes of each body the peer may send unasked, in bodies that it has begun too.
    public func announce(streamWindow bytes: UInt32) {
        give(.announceWindow(bytes: bytes))
    }

    /// Sends GOAWAY.
    /// - Parameters:
    ///   - last: The last stream that is (or will be) answered; nil for the newest one seen.
    ///   - debugData: Free bytes for a person or program at the other end.
    ///   - finishes: Whether the connection ends once its open requests are answered; otherwise it stays until the peer
    ///     closes it, or `close` is called.
    public func goAway(
        last: Int32? = nil, code: HTTP2ErrorCode = .noError, debugData: [UInt8] = [], finishes: Bool = false
    ) {
        give(.goAway(last: last, code: code, debugData: debugData, finishes: finishes))
    }

    /// Resets the stream of a request, whose answer then goes nowhere.
    /// - Parameter stream: `HTTPRequest.streamID`.
    public func reset(_ stream: Int32, code: HTTP2ErrorCode) {
        give(.reset(stream: stream, code: code))
    }

    /// Sends no WINDOW_UPDATE until told otherwise, so that the peer's bodies stop; then sends all that were held back.
    public func withholdWindows(_ isWithheld: Bool) {
        give(.withholdWindows(isWithheld))
    }

    /// From now on reads and throws away, and sends nothing: the connection looks alive and is not.
    public func goSilent() {
        give(.goSilent)
    }

    /// Closes the connection once what is written has been sent.
    public func close() {
        give(.close)
    }

    private func give(_ command: Command) {
        commands.withLock { $0.append(command) }
        wake()
    }

    /// The commands that were given since the last call; called on the connection's loop.
    func takeCommands() -> [Command] {
        commands.withLock { commands in
            defer { commands = [] }
            return commands
        }
    }
}
