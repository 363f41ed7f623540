public import MartletCore
public import MartletHTTP
public import MartletModel

/// The far side of one platform as rules: judges requests as the service would and keeps the devices it has made up.
/// Opens nothing; a shell gives it requests and carries out what it answers.
public protocol PushServiceSimulator: Sendable {
    static var platform: PlatformID { get }

    /// The devices that were handed out.
    var devices: SimulatedDevices { get set }
    /// How often what happened, by name; for assertions.
    var counters: [String: Int] { get }

    /// Whether a request is one to this service.
    func serves(_ path: Substring) -> Bool

    /// What is done to a connection before its first request is answered.
    mutating func open(_ connection: HTTPConnection, at now: Timestamp) -> [ConnectionStep]

    /// Forgets a connection.
    mutating func close(_ connection: UInt64)

    /// Judges one request.
    mutating func answer(_ request: HTTPRequest, at now: Timestamp) -> SimulatedAnswer

    /// Makes an app known, so that what its owner sends is accepted.
    /// - Throws: `SimulatorError` naming the member that is missing or wrong.
    mutating func register(app: JSON) throws(SimulatorError)

    /// Makes up the owner of an app, known here, and what a hub needs to send as that owner.
    /// - Parameters:
    ///   - origin: Where the simulator is reached.
    ///   - authorityPEM: The authority that senders must trust.
    mutating func issueCredential(origin: HTTPOrigin, authorityPEM: String) throws(SimulatorError) -> Credential

    /// Makes up a device.
    /// - Returns: Its handle.
    /// - Throws: `SimulatorError` naming the member that is missing or wrong.
    mutating func addDevice(_ description: JSON) throws(SimulatorError) -> String
}

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

/// What a simulator does to an HTTP/2 connection.
public enum ConnectionStep: Hashable, Sendable {
    /// Announces how many requests may be open at once.
    case announce(streamLimit: UInt32)
    /// Says goodbye with a reason, as JSON, and closes. No request of the connection was processed.
    case goAway(reason: String)
    /// Cuts the connection without a word.
    case cut
}

/// What a control request lacks, in a sentence.
public struct SimulatorError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}
