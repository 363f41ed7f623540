import MartletHTTP
import MartletModel
import MartletNetwork
import MartletPush
import Synchronization

/// The HTTP/2 connections of a simulator, and what its services do to them.
final class SimulatorConnections: Sendable {
    private let controls = Mutex<[UInt64: HTTP2ConnectionControl]>([:])

    func add(_ control: HTTP2ConnectionControl) {
        controls.withLock { $0[control.connection.id] = control }
    }

    func remove(_ connection: UInt64) {
        controls.withLock { $0[connection] = nil }
    }

    /// Does nothing to a connection that is not HTTP/2: none of the steps has a meaning there.
    func perform(_ steps: [ConnectionStep], on connection: HTTPConnection?) {
        guard !steps.isEmpty, let connection, let control = controls.withLock({ $0[connection.id] }) else { return }
        for step in steps {
            switch step {
            case .announce(let streamLimit): control.announce(streamLimit: streamLimit)
            case .goAway(let reason):
                control.goAway(last: 0, debugData: JSON.object(["reason": .string(reason)]).bytes)
                control.close()
            case .cut: control.close()
            }
        }
    }
}
