import MartletHTTP
import MartletModel
import MartletNetwork
import MartletPush
import Synchronization

/// The HTTP/2 connections of a simulator, and what its services do to them.
final class SimulatorConnections: Sendable {
    private struct Entry {
        /// Goes with its connection.
        weak var control: HTTP2ConnectionControl?
        var isController = false
    }

    private struct Contents {
        var entries: [UInt64: Entry] = [:]
        var sweepAt = 64
    }

    private let state: SimulatorState
    private let contents = Mutex(Contents())

    init(state: SimulatorState) {
        self.state = state
    }

    /// Takes up a new connection, and forgets those that have gone whenever their number has doubled.
    func add(_ control: HTTP2ConnectionControl) {
        let gone = contents.withLock { contents -> [UInt64] in
            contents.entries[control.connection.id] = Entry(control: control)
            guard contents.entries.count >= contents.sweepAt else { return [] }
            let gone = contents.entries.filter { $0.value.control == nil }.map(\.key)
            for connection in gone { contents.entries[connection] = nil }
            contents.sweepAt = max(64, 2 * contents.entries.count)
            return gone
        }
        for connection in gone { state.close(connection) }
        perform(state.open(control.connection), on: control.connection)
    }

    /// Somebody uses the control interface on a connection, who is no sender and may follow more than one device at
    /// once. Announced once: each announcement costs the client an acknowledgement.
    func welcomeController(on connection: HTTPConnection?) {
        guard let connection else { return }
        let isNew = contents.withLock { contents in
            guard contents.entries[connection.id]?.isController == false else { return false }
            contents.entries[connection.id]?.isController = true
            return true
        }
        if isNew { perform([.announce(streamLimit: 100)], on: connection) }
    }

    /// Does nothing to a connection that is not HTTP/2: none of the steps has a meaning there.
    func perform(_ steps: [ConnectionStep], on connection: HTTPConnection?) {
        guard !steps.isEmpty, let connection,
            let control = contents.withLock({ $0.entries[connection.id]?.control })
        else { return }
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
