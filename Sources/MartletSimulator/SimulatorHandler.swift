import MartletHTTP
import MartletPush

/// Answers what comes in on the simulator's listener: requests to the services, and those of the control interface.
struct SimulatorHandler: HTTPHandler {
    /// More than any service takes, so that the service itself says that it is too much.
    private static let serviceBodyLimit = 64 * 1024

    let state: SimulatorState
    let connections: SimulatorConnections
    let control: Router

    init(state: SimulatorState, connections: SimulatorConnections) {
        self.state = state
        self.connections = connections
        control = ControlRoutes(state: state).router
    }

    func bodyLimit(for head: HTTPRequest) -> Int {
        state.serves(path(of: head)) ? Self.serviceBodyLimit : control.bodyLimit(for: head)
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        guard let answer = state.answer(request, path: path(of: request)) else {
            connections.welcomeController(on: request.connection)
            return await control.respond(to: request)
        }
        if answer.delay > .zero { try? await Task.sleep(for: answer.delay) }
        connections.perform(answer.steps, on: request.connection)
        return answer.response
    }

    private func path(of request: HTTPRequest) -> Substring {
        request.target.prefix { $0 != "?" }
    }
}
