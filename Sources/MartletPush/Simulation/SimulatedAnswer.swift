public import MartletHTTP

/// What a simulator does about one request.
public struct SimulatedAnswer: Sendable {
    public var response: HTTPResponse
    /// What is done to the request's connection after the answer.
    public var steps: [ConnectionStep]
    /// How long the answer takes.
    public var delay: Duration
    /// What a device that listens receives now.
    public var delivery: SimulatedDelivery?
    /// What is done on the connections of real devices.
    public var socketSteps: [SocketStep]

    public init(
        _ response: HTTPResponse, steps: [ConnectionStep] = [], delay: Duration = .zero,
        delivery: SimulatedDelivery? = nil, socketSteps: [SocketStep] = []
    ) {
        self.response = response
        self.steps = steps
        self.delay = delay
        self.delivery = delivery
        self.socketSteps = socketSteps
    }
}
