public import MartletCore
public import MartletHTTP
public import MartletModel

/// The far side of one platform as rules: judges requests as the service would and keeps the devices it has made up.
/// Opens nothing; a shell gives it the requests that come to its origin and carries out what it answers. Token endpoints
/// are paths of the same origin.
public protocol PushServiceSimulator: Sendable {
    static var platform: PlatformID { get }

    /// Requests that a new connection may have open at once.
    static var firstStreamLimit: UInt32 { get }

    /// The faults that the service has words for; any other is refused where somebody asks for it.
    static var faults: Set<ServiceFault.Name> { get }

    /// The devices that were handed out.
    var devices: SimulatedDevices { get set }
    /// How often what happened, by name; for assertions.
    var counters: [String: Int] { get }

    /// What is done to a connection before its first request is answered.
    mutating func open(_ connection: HTTPConnection, at now: Timestamp) -> [ConnectionStep]

    /// Forgets a connection.
    mutating func close(_ connection: UInt64)

    /// What a request is about, for faults that some requests meet and others do not. Nothing is judged here.
    /// - Parameter request: Without its body where that has not been read yet.
    func subject(of request: HTTPRequest) -> SimulatedSubject

    /// Judges one request.
    mutating func answer(_ request: HTTPRequest, at now: Timestamp) -> SimulatedAnswer

    /// Judges one request as `answer(_:at:)` does, and refuses one that would be accepted, in the service's words for
    /// the fault. The request counts and is checked; it reaches no device unless the fault is one that delivers.
    /// - Parameter fault: One of `faults`.
    mutating func answer(_ request: HTTPRequest, fault: ServiceFault, at now: Timestamp) -> SimulatedAnswer

    /// Makes an app known, so that what its owner sends is accepted.
    /// - Throws: `SimulatorError` naming the member that is missing or wrong.
    mutating func register(app: JSON) throws(SimulatorError)

    /// Makes up the owner of an app, known here, and what a hub needs to send as that owner: every address that it has
    /// of the service lies under `origin`.
    /// - Parameters:
    ///   - origin: Where the service is reached.
    ///   - authorityPEM: The authority that senders must trust.
    mutating func issueCredential(origin: HTTPOrigin, authorityPEM: String) throws(SimulatorError) -> Credential

    /// Makes up a device.
    /// - Returns: Its handle.
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
