public import MartletModel
public import MartletPush

/// A rule of the fault plan: a fault, and the requests or connections that it applies to.
public struct FaultRule: Hashable, Sendable {
    /// The requests or connections that a fault applies to.
    ///
    /// A property that is nil does not restrict the scope.
    struct Scope: Hashable, Sendable {
        var service: PlatformID?
        var endpoint: SimulatedSubject.Endpoint?
        var app: String?
        var handle: String?
        /// The number of the connection among the connections of its service, starting at 1.
        var connection: Int?
    }

    var fault: Fault
    var trigger: FaultTrigger
    var scope = Scope()
    /// The fault happens for every n-th request in scope, where n is this number. Requests that `skip` has skipped are
    /// not counted.
    var every = 1
    /// The number of requests in scope that are skipped before the fault can happen.
    var skip = 0
    /// The maximum number of times that the fault happens; nil for no limit.
    var next: Int?
    /// The probability that the fault happens for a request that meets the other conditions.
    var probability = 1.0
    /// The time from the setting of the rule until the rule begins to apply.
    var after: Duration = .zero
    /// How long the rule applies after it has begun to apply; nil for no end.
    var duration: Duration?
    /// The rule as it was written.
    let source: JSON

    /// Reads a rule: `{"fault": "slow", "delay": 2000, "service": …, "every": 10}`. All members are described in
    /// `Docs/Simulator.md`.
    /// - Throws: `SimulatorError` that names the missing or invalid member.
    public init(_ json: JSON) throws(SimulatorError) {
        var members = try FaultMembers(json)
        source = json
        fault = try Fault(&members)
        trigger = fault.trigger
        if fault.canMeetConnection, try members.choice("at", ["connect", "request"]) == "connect" { trigger = .open }
        scope.service = try members.text("service").map(PlatformID.init(rawValue:))
        scope.endpoint =
            try members.choice("endpoint", SimulatedSubject.Endpoint.allCases.map(\.rawValue))
            .flatMap(SimulatedSubject.Endpoint.init) ?? fault.endpoint
        scope.app = try members.text("app")
        scope.handle = try members.text("handle")
        scope.connection = try members.integer("connection", 1...Int.max)
        every = try members.integer("every", 1...1_000_000_000) ?? every
        skip = try members.integer("skip", 0...1_000_000_000) ?? skip
        next = try members.integer("next", 1...1_000_000_000)
        probability = try members.fraction("probability") ?? probability
        after = try members.milliseconds("after") ?? after
        duration = try members.milliseconds("for")
        try members.finish()
    }

    /// Reads a rule in the form of the flag `--faults` of `martlet simulate`, such as `slow delay=2000 every=10`.
    ///
    /// The name of the fault is followed by members of the JSON form.
    public init(text: Substring) throws(SimulatorError) {
        let words = text.split(separator: " ")
        guard let name = words.first else { throw SimulatorError("A fault begins with its name.") }
        var members: [String: JSON] = ["fault": .string(String(name))]
        for word in words.dropFirst() {
            guard let sign = word.firstIndex(of: "=") else {
                throw SimulatorError("\"\(word)\" must be NAME=VALUE.")
            }
            members[String(word[..<sign])] = Self.value(word[word.index(after: sign)...])
        }
        try self.init(.object(members))
    }

    private static func value(_ text: Substring) -> JSON {
        if text.contains(",") { return .array(text.split(separator: ",").map { value($0) }) }
        if let number = Int64(text) { return .integer(number) }
        if let number = Double(text) { return .double(number) }
        return switch text {
        case "true": .bool(true)
        case "false": .bool(false)
        default: .string(String(text))
        }
    }

    /// Returns whether a request or connection is in the scope of the rule. The rule's counters and times are not
    /// considered.
    func covers(_ facts: FaultFacts) -> Bool {
        if case .service(let fault) = fault, !facts.faults.contains(fault.name) { return false }
        return trigger == facts.trigger && scope.service.map { $0 == facts.service } ?? true
            && scope.connection.map { $0 == facts.connection } ?? true
            && scope.endpoint.map { $0 == facts.subject.endpoint } ?? true
            && scope.app.map { $0 == facts.subject.app } ?? true
            && scope.handle.map { $0 == facts.subject.handle } ?? true
    }

    /// Returns whether the rule applies at a time.
    /// - Parameter age: The time that has passed since the rule was set.
    func covers(_ age: Duration) -> Bool {
        age >= after && duration.map { age < after + $0 } ?? true
    }
}

/// The facts that decide whether a fault happens to a request or connection.
struct FaultFacts: Sendable {
    var service: PlatformID
    /// The faults that the service can produce.
    var faults: Set<ServiceFault.Name>
    var trigger: FaultTrigger
    /// The number of the connection among the connections of its service, starting at 1.
    var connection: Int
    var subject = SimulatedSubject()
    /// The number of the device among the devices of its service, starting at 0; nil for an unknown device.
    var device: Int?
}
