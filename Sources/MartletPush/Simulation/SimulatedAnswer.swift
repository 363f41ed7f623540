public import MartletHTTP

/// What a simulator does about one request.
public struct SimulatedAnswer: Sendable {
    public var response: HTTPResponse
    /// What is done to the request's connection behind the answer.
    public var steps: [ConnectionStep]
    /// How long the answer takes.
    public var delay: Duration
    /// What a device that listens receives now.
    public var delivery: SimulatedDelivery?

    public init(
        _ response: HTTPResponse, steps: [ConnectionStep] = [], delay: Duration = .zero,
        delivery: SimulatedDelivery? = nil
    ) {
        self.response = response
        self.steps = steps
        self.delay = delay
        self.delivery = delivery
    }
}
