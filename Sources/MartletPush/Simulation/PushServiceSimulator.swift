public import MartletCore
public import MartletHTTP
public import MartletModel

/// The simulated service of one platform, as pure rules. It checks requests as the real service does, and stores the
/// simulated devices. It opens no sockets: `MartletSimulator` passes it the requests that arrive at its origin, and
/// sends its answers. The service's token endpoints, if it has any, are at the same origin.
public protocol PushServiceSimulator: Sendable {
    static var platform: PlatformID { get }

    /// The maximum number of open requests on a new connection.
    static var firstStreamLimit: UInt32 { get }

    /// The faults that the service can answer with.
    ///
    /// A control request for any other fault is refused.
    static var faults: Set<ServiceFault.Name> { get }

    /// The simulated devices of the service, with the notifications that they got.
    var devices: SimulatedDevices { get set }
    /// The number of times that each event happened, by name, for assertions in tests.
    var counters: [String: Int] { get }

    /// Returns the actions to perform on a new connection, before its first request is answered.
    mutating func open(_ connection: HTTPConnection, at now: Timestamp) -> [ConnectionStep]

    /// Removes the state of a closed connection.
    /// - Parameter connection: The `HTTPConnection.id` of the connection.
    mutating func close(_ connection: UInt64)

    /// Returns the subject of a request, without judging the request.
    ///
    /// If a fault is meant only for some requests, the subject decides whether the fault applies to this request.
    /// - Parameter request: The request, without its body if the body has not been read yet.
    func subject(of request: HTTPRequest) -> SimulatedSubject

    /// Checks one request as the real service does, and returns the service's answer. The message of an accepted
    /// request is delivered or stored.
    mutating func answer(_ request: HTTPRequest, at now: Timestamp) -> SimulatedAnswer

    /// Checks one request as `answer(_:at:)` does, but answers with a fault.
    ///
    /// A request that would be accepted is refused with the service's own answer for the fault. The request is counted
    /// and checked. Its message reaches no device, unless `fault.isDelivered` is true or the fault is `replacedHandle`.
    /// - Parameter fault: One of `faults`.
    mutating func answer(_ request: HTTPRequest, fault: ServiceFault, at now: Timestamp) -> SimulatedAnswer

    /// Registers an app, so that pushes from its owner are accepted.
    /// - Throws: `SimulatorError` naming the member that is missing or wrong.
    mutating func register(app: JSON) throws(SimulatorError)

    /// Creates and registers the owner of an app, and returns the credential that a hub needs to send as that owner.
    ///
    /// All addresses of the service in the credential are below `origin`.
    /// - Parameters:
    ///   - origin: The origin at which the service is reached.
    ///   - authorityPEM: The certificate authority that senders must trust.
    mutating func issueCredential(origin: HTTPOrigin, authorityPEM: String) throws(SimulatorError) -> Credential

    /// Creates a device.
    /// - Returns: The handle of the device.
    /// - Throws: `SimulatorError` naming the member that is missing or wrong.
    mutating func addDevice(_ description: JSON) throws(SimulatorError) -> String
}

extension PushServiceSimulator {
    public static var firstStreamLimit: UInt32 { 100 }
    public static var faults: Set<ServiceFault.Name> { [] }

    public mutating func open(_ connection: HTTPConnection, at now: Timestamp) -> [ConnectionStep] { [] }
    public mutating func close(_ connection: UInt64) {}
    public func subject(of request: HTTPRequest) -> SimulatedSubject { SimulatedSubject() }

    public mutating func answer(_ request: HTTPRequest, fault: ServiceFault, at now: Timestamp) -> SimulatedAnswer {
        answer(request, at: now)
    }
}
