public import MartletHTTP
import Synchronization

/// Controls one HTTP/2 connection of a server from any thread. Offers commands that no HTTP response can express.
///
/// Commands are executed in the order of the calls, and before any response that is sent after them.
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

    /// The connection that is controlled.
    ///
    /// Its id equals that of `HTTPRequest.connection`.
    public let connection: HTTPConnection
    private let commands = Mutex<[Command]>([])
    private let wake: @Sendable () -> Void

    /// Creates the control of a connection.
    /// - Parameter wake: A closure that makes the connection's loop ask the session to write. It can be called on any
    ///   thread.
    init(connection: HTTPConnection, wake: @escaping @Sendable () -> Void) {
        self.connection = connection
        self.wake = wake
    }

    /// Announces the maximum number of requests that the peer may have open at once. Requests above the limit are
    /// answered with REFUSED_STREAM until the peer has acknowledged the limit, and with GOAWAY after that.
    public func announce(streamLimit: UInt32) {
        give(.announce(streamLimit: streamLimit))
    }

    /// Announces how many bytes of each body the peer may send before it receives a WINDOW_UPDATE. Also applies to
    /// bodies whose transfer has already begun.
    public func announce(streamWindow bytes: UInt32) {
        give(.announceWindow(bytes: bytes))
    }

    /// Sends GOAWAY.
    /// - Parameters:
    ///   - last: The id of the last stream that will be answered; nil for the newest stream that the server has
    ///     processed.
    ///   - debugData: Additional data for a person or program at the peer.
    ///   - finishes: Whether the connection closes once its open requests are answered. Otherwise it stays open until
    ///     the peer closes it or `close` is called.
    public func goAway(
        last: Int32? = nil, code: HTTP2ErrorCode = .noError, debugData: [UInt8] = [], finishes: Bool = false
    ) {
        give(.goAway(last: last, code: code, debugData: debugData, finishes: finishes))
    }

    /// Resets the stream of a request; its response is discarded.
    /// - Parameter stream: The `HTTPRequest.streamID` of the request.
    public func reset(_ stream: Int32, code: HTTP2ErrorCode) {
        give(.reset(stream: stream, code: code))
    }

    /// Withholds WINDOW_UPDATE frames, so that the peer must stop sending bodies. Passing false sends the withheld
    /// frames.
    public func withholdWindows(_ isWithheld: Bool) {
        give(.withholdWindows(isWithheld))
    }

    /// Discards all input and sends nothing from now on. The connection stays open but does not respond.
    public func goSilent() {
        give(.goSilent)
    }

    /// Closes the connection once the written output has been sent.
    public func close() {
        give(.close)
    }

    private func give(_ command: Command) {
        commands.withLock { $0.append(command) }
        wake()
    }

    /// Returns the commands that were added since the last call. Called on the connection's loop.
    func takeCommands() -> [Command] {
        commands.withLock { commands in
            defer { commands = [] }
            return commands
        }
    }
}
