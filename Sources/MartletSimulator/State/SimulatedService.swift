import MartletCore
import MartletHTTP
import MartletModel
import MartletPush

/// One simulated service with what the simulator itself knows of it.
struct SimulatedService: Sendable {
    var rules: any PushServiceSimulator
    /// Where it is reached; nil before it listens.
    private(set) var origin: HTTPOrigin?
    /// Where its real devices connect; nil for a service that has none.
    var socketOrigin: HTTPOrigin?
    /// What a hub needs to send to it.
    private(set) var credential: [String: String] = [:]
    /// Numbers of the connections that there are, by `HTTPConnection.id`.
    private(set) var connections: [UInt64: Int] = [:]
    /// When the peer had opened them at the latest, by the clock that nobody sets.
    private(set) var openings: [UInt64: Double] = [:]
    private var connectionCount = 0
    private var openRequests = 0
    private var marks: [String: Int] = [:]

    init(rules: any PushServiceSimulator) {
        self.rules = rules
    }

    var platform: PlatformID { type(of: rules).platform }

    /// What the service counts, and what is counted for it: connections and requests, at most at once, and faults.
    var counters: [String: Int] { rules.counters.merging(marks) { $1 } }

    /// Where its real devices connect, as they are told.
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

    /// What there is to know of a request, or of a connection where there is none yet.
    func facts(_ request: HTTPRequest?, on connection: UInt64?, at timestamp: FaultTrigger) -> FaultFacts {
        var facts = FaultFacts(
            service: platform, faults: type(of: rules).faults, timestamp: timestamp,
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
