import MartletHTTP
import MartletPush
import Testing

@testable import MartletNetwork
@testable import MartletSimulator

struct SimulatorConnectionsTests {
    @Test func whoeverControlsTheSimulatorIsGivenRoomOnceAndNotWithEachRequest() async {
        let state = SimulatorState(PushPlatforms.simulators(acceptsAnyKey: true)) { SimulatorFixture.now }
        let connections = SimulatorConnections(state: state)
        let handler = SimulatorHandler(state: state, connections: connections)
        let control = HTTP2ConnectionControl(connection: SimulatorFixture.connection, wake: {})
        connections.add(control)
        _ = control.takeCommands()
        for _ in 0..<3 {
            _ = await handler.respond(
                to: HTTPRequest(.get, "/simulator/counters", connection: SimulatorFixture.connection))
        }
        let limits = control.takeCommands().map { command -> UInt32? in
            if case .announce(let streamLimit) = command { streamLimit } else { nil }
        }
        #expect(limits == [100])
    }
}
