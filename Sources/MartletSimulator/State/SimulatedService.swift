import MartletCore
import MartletHTTP
import MartletModel
import MartletPush

/// One simulated service, with its address, its connections and its counters.
struct SimulatedService: Sendable {
    var rules: any PushServiceSimulator
    /// The address of the service; nil until it listens.
    private(set) var origin: HTTPOrigin?
    /// The address that real devices connect to; nil if the service does not support real devices.
    var socketOrigin: HTTPOrigin?
    /// The credential that a hub needs to send to the service.
    private(set) var credential: [String: String] = [:]
    /// The numbers of the open connections, by `HTTPConnection.id`.
    private(set) var connections: [UInt64: Int] = [:]
    /// For each open connection, the latest time at which the peer can have opened the connection, in seconds of the
    /// monotonic clock.
    private(set) var openings: [UInt64: Double] = [:]
    private var connectionCount = 0
    private var openRequests = 0
    private var marks: [String: Int] = [:]

    init(rules: any PushServiceSimulator) {
        self.rules = rules
    }

    var platform: PlatformID { type(of: rules).platform }

    /// The counters of the simulated service, together with the simulator's own counters. The latter are the number of
    /// connections, the highest numbers of connections and of requests that were open at the same time, and the number
    /// of times that each fault happened.
    var counters: [String: Int] { rules.counters.merging(marks) { $1 } }

    /// The URL that real devices connect to; nil if the service does not support real devices.
    var socketURL: String? { socketOrigin.map { "ws://\($0.authority)/" } }

    mutating func issueCredential(origin: HTTPOrigin, authorityPEM: String) throws(SimulatorError) {
        self.origin = origin
        credential = try rules.issueCredential(origin: origin, authorityPEM: authorityPEM).properties
    }

    mutating func opened(_ connection: HTTPConnection, silentFor silence: Duration) {
        connectionCount += 1
        connections[connection.id] = connectionCount
        openings[connection.id] = SimulatorLedger.steadyTime - silence / .seconds(1)
        mark("connections")
        markMost("connections.atOnce", connections.count)
    }

    mutating func closed(_ connection: UInt64) {
        connections[connection] = nil
        openings[connection] = nil
        rules.close(connection)
    }

    mutating func requestBegan() {
        openRequests += 1
        markMost("requests.atOnce", openRequests)
    }

    mutating func requestEnded() {
        openRequests = max(0, openRequests - 1)
    }

    mutating func happened(_ fault: Fault) {
        mark("faults.\(fault.name)")
    }

    /// Returns the facts that decide which fault happens to a request, or to a connection before its first request.
    func facts(_ request: HTTPRequest?, on connection: UInt64?, at trigger: FaultTrigger) -> FaultFacts {
        var facts = FaultFacts(
            service: platform, faults: type(of: rules).faults, trigger: trigger,
            connection: connection.flatMap { connections[$0] } ?? connectionCount + 1)
        if let request {
            facts.subject = rules.subject(of: request)
            facts.device = facts.subject.handle.flatMap { rules.devices[$0]?.index }
        }
        return facts
    }

    private mutating func mark(_ name: String) {
        marks[name, default: 0] += 1
    }

    private mutating func markMost(_ name: String, _ count: Int) {
        marks[name] = max(marks[name, default: 0], count)
    }
}
