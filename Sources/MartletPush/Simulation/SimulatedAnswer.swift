public import MartletHTTP

/// A simulated service's answer to one request, and the actions that are performed with it.
public struct SimulatedAnswer: Sendable {
    public var response: HTTPResponse
    /// The actions on the request's connection, which are performed after `delay` and before the answer is sent.
    public var steps: [ConnectionStep]
    /// The time to wait before the answer is sent.
    public var delay: Duration
    /// The notification to pass on to devices that are listening now; nil for none.
    public var delivery: SimulatedDelivery?
    /// The actions to perform on the connections of real devices.
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
