import MartletCore
import MartletHTTP
import MartletModel
import MartletNetwork
import MartletPush
import Synchronization

/// The connections of one simulated service.
///
/// This class performs the actions on connections that the service or a fault demands, such as closing a connection.
final class ServiceConnections: ConnectionObserver {
    private struct Entry {
        let control: ConnectionControl
        /// The highest id of a stream whose request the service has judged.
        var judged: Int32 = 0
        /// The last stream id in the GOAWAY frame that was sent. Streams with a higher id are abandoned.
        var last = Int32.max
    }

    private let platform: PlatformID
    private let state: SimulatorState
    private let entries = Mutex<[UInt64: Entry]>([:])

    init(platform: PlatformID, state: SimulatorState) {
        self.platform = platform
        self.state = state
    }

    func opened(_ control: ConnectionControl) {
        entries.withLock { $0[control.connection.id] = Entry(control: control) }
        let (steps, fault) = state.opened(control.connection, silentFor: control.silence, of: platform)
        perform(steps, on: control)
        switch fault {
        case .reset: control.reset()
        case .blackHole: silence(control)
        case .streamLimits(let limits, let interval): announce(limits, every: interval, on: control)
        case .smallWindow(let bytes, let time): narrow(control, to: bytes, for: time)
        case .goAway(var fault):
            fault.last = .none
            entries.withLock { $0[control.connection.id]?.last = 0 }
            sayGoodbye(fault, on: control, last: 0)
        default: break
        }
    }

    func closed(_ connection: UInt64) {
        _ = entries.withLock { $0.removeValue(forKey: connection) }
        state.closed(connection, of: platform)
    }

    /// Returns whether the service should judge a request.
    ///
    /// A request that an earlier GOAWAY on its connection has abandoned is not judged.
    func takes(_ request: HTTPRequest) -> Bool {
        guard let id = request.connection?.id else { return true }
        return entries.withLock { $0[id].map { request.streamID <= $0.last } ?? true }
    }

    /// Records that the service has judged a request. A later GOAWAY that abandons the newest requests
    /// (`GoAwayFault.Last.before`) then does not abandon this request. Called on the connection's loop directly after
    /// the request was judged.
    func judged(_ request: HTTPRequest) {
        guard let id = request.connection?.id else { return }
        entries.withLock { entries in
            guard let entry = entries[id] else { return }
            entries[id]?.judged = max(entry.judged, request.streamID)
        }
    }

    /// Calls back when the answer to a request, which is given in the current turn of the connection's loop, can no longer
    /// be lost by a reset in this turn.
    func afterAnswer(to request: HTTPRequest, _ call: @escaping @Sendable () -> Void) {
        guard let control = control(of: request) else { return call() }
        control.afterOutput(call)
    }

    /// Performs the steps that the service takes on the connection of a request as part of its answer.
    func perform(_ steps: [ConnectionStep], on request: HTTPRequest) {
        guard !steps.isEmpty, let control = control(of: request) else { return }
        perform(steps, on: control)
    }

    private func perform(_ steps: [ConnectionStep], on control: ConnectionControl) {
        for step in steps {
            switch step {
            case .announce(let streamLimit): control.http2?.announce(streamLimit: streamLimit)
            case .goAway(let reason):
                control.http2?.goAway(last: 0, debugData: JSON.object(["reason": .string(reason)]).bytes)
                control.http2?.close()
            case .cut: control.reset()
            }
        }
    }

    // MARK: Faults

    /// Performs a fault on the connection of a request.
    ///
    /// If the fault was decided for the whole request, this function is called on the connection's loop directly after
    /// the request was judged. So no other request of the connection is judged in between. Otherwise a GOAWAY could
    /// abandon a message that the service has stored.
    func carryOut(_ fault: Fault?, on request: HTTPRequest) {
        guard let fault, let control = control(of: request) else { return }
        switch fault {
        case .reset: control.reset()
        case .resetStream(let code):
            // HTTP/1.1 has no streams, so the connection is reset.
            if let http2 = control.http2 { http2.reset(request.streamID, code: code) } else { control.reset() }
        case .blackHole: silence(control)
        case .streamLimits(let limits, let interval): announce(limits, every: interval, on: control)
        case .goAway(let fault): sayGoodbye(fault, on: control, request)
        case .service, .clockSkew, .slow, .unanswered, .smallWindow, .response, .tls: break
        }
    }

    /// Sends bytes on the connection of a request, in place of an answer.
    func write(_ bytes: [UInt8], on request: HTTPRequest) {
        control(of: request)?.write(bytes)
    }

    private func sayGoodbye(_ fault: GoAwayFault, on control: ConnectionControl, _ request: HTTPRequest) {
        let last = entries.withLock { entries -> Int32? in
            guard let entry = entries[control.connection.id] else { return nil }
            let last: Int32
            switch fault.last {
            case .newest: return nil
            case .none: last = 0
            // The last stream id must not be lower than the id of the newest judged request, because a GOAWAY must not
            // abandon a request that the service has already judged.
            case .before(let count): last = max(request.streamID - 2 * Int32(count), entry.judged)
            }
            entries[control.connection.id]?.last = last
            return last
        }
        sayGoodbye(fault, on: control, last: last)
    }

    private func sayGoodbye(_ fault: GoAwayFault, on control: ConnectionControl, last: Int32?) {
        guard let http2 = control.http2 else { return }
        if fault.isDouble { http2.goAway(last: .max, code: fault.code, debugData: fault.debugBytes) }
        http2.goAway(last: last, code: fault.code, debugData: fault.debugBytes, finishes: fault.ending == .finish)
        if fault.ending == .close { http2.close() }
    }

    private func silence(_ control: ConnectionControl) {
        control.http2?.goSilent()
    }

    private func announce(_ limits: [UInt32], every interval: Duration, on control: ConnectionControl) {
        guard let http2 = control.http2, let first = limits.first else { return }
        http2.announce(streamLimit: first)
        guard limits.count > 1 else { return }
        Task { [weak http2] in
            for limit in limits.dropFirst() {
                try await Task.sleep(for: interval)
                http2?.announce(streamLimit: limit)
            }
        }
    }

    private func narrow(_ control: ConnectionControl, to bytes: UInt32, for time: Duration) {
        guard let http2 = control.http2 else { return }
        http2.announce(streamWindow: bytes)
        http2.withholdWindows(true)
        Task { [weak http2] in
            try await Task.sleep(for: time)
            http2?.announce(streamWindow: HTTP2Settings().streamWindow)
            http2?.withholdWindows(false)
        }
    }

    private func control(of request: HTTPRequest) -> ConnectionControl? {
        guard let id = request.connection?.id else { return nil }
        return entries.withLock { $0[id]?.control }
    }
}
