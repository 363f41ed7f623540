public import MartletModel
public import MartletPush

/// Decides which fault, if any, happens to each request or connection.
///
/// The decision is pure: the same rules with the same seed and the same requests give the same faults. Random numbers
/// are drawn for each device separately, from the seed, the rule, the device's number and the number of requests for
/// that device. So the numbers do not depend on the order of requests to different devices. For a request without a
/// known device, the number of all requests that the rule has covered so far is used instead.
public struct FaultPlan: Sendable {
    /// A rule of the plan, with its counters.
    struct Entry: Sendable {
        let id: Int
        let rule: FaultRule
        /// When the rule was set.
        let since: Timestamp
        /// The number of requests or connections in the rule's scope that arrived while the rule applied.
        var seen = 0
        /// The number of times that the fault happened.
        var fired = 0
        /// For each device, how many of the requests in `seen` were for that device. The key is the device's number.
        var asked: [Int: Int] = [:]
    }

    private static let ruleLimit = 100
    private static let handleLimit = 100_000

    /// The seed of the random numbers.
    public let seed: UInt64
    private(set) var entries: [Entry] = []
    private var lastID = 0
    /// For each handle with the marker `HandleMarker.throttle`, the number of requests so far.
    private var marked: [String: Int] = [:]

    public init(seed: UInt64 = 0) {
        self.seed = seed
    }

    /// Reads a script of the form `{"seed": 1, "faults": [rules]}`.
    /// - Parameter now: The time from which the members `after` and `for` of the rules are counted.
    /// - Throws: `SimulatorError` that describes the error in the script.
    public init(script: JSON, at now: Timestamp) throws(SimulatorError) {
        guard let rules = script["faults"]?.array else {
            throw SimulatorError("\"faults\" must be an array of faults.")
        }
        let seed = script["seed"]?.integer ?? 0
        guard script["seed"] == nil || script["seed"]?.integer != nil, seed >= 0 else {
            throw SimulatorError("\"seed\" must be a whole number, 0 or more.")
        }
        self.init(seed: UInt64(seed))
        for rule in rules { _ = try add(FaultRule(rule), at: now) }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Adds a rule after the existing rules.
    ///
    /// If the faults of several rules are due for a request, only the fault of the first of these rules happens.
    /// - Returns: The number of the rule.
    /// - Throws: `SimulatorError` if the plan has the maximum number of rules.
    @discardableResult
    public mutating func add(_ rule: FaultRule, at now: Timestamp) throws(SimulatorError) -> Int {
        guard entries.count < Self.ruleLimit else {
            throw SimulatorError("There are \(Self.ruleLimit) faults already, which is the most there can be.")
        }
        lastID += 1
        entries.append(Entry(id: lastID, rule: rule, since: now))
        return lastID
    }

    /// Removes a rule.
    /// - Returns: Whether the rule existed.
    mutating func remove(_ id: Int) -> Bool {
        let count = entries.count
        entries.removeAll { $0.id == id }
        return entries.count < count
    }

    mutating func removeAll() {
        entries = []
        marked = [:]
    }

    /// Returns whether the plan has a rule that applies to a service and is decided at the given point.
    func decides(at trigger: FaultTrigger, for service: PlatformID) -> Bool {
        entries.contains { $0.rule.trigger == trigger && $0.rule.scope.service.map { $0 == service } ?? true }
    }

    /// Returns the fault that happens to a request or connection; nil for none. If no rule's fault is due, the marker
    /// at the end of the handle decides.
    ///
    /// Every rule that covers the request counts it, even if the fault of another rule happens.
    mutating func fault(for facts: FaultFacts, at now: Timestamp) -> Fault? {
        var found: Fault?
        for index in entries.indices where entries[index].rule.covers(facts) {
            guard entries[index].rule.covers(now - entries[index].since) else { continue }
            let isDue = isDue(index, facts)
            guard isDue, found == nil else { continue }
            entries[index].fired += 1
            found = entries[index].rule.fault
        }
        return found ?? markedFault(facts)
    }

    /// Counts a request for a rule, and returns whether the rule's fault is due for the request.
    private mutating func isDue(_ index: Int, _ facts: FaultFacts) -> Bool {
        entries[index].seen += 1
        let rule = entries[index].rule
        let turn = entries[index].seen - rule.skip
        var draw = Draw(seed: seed, rule: entries[index].id, device: 0, turn: entries[index].seen)
        let asked = entries[index].asked
        if let device = facts.device, asked[device] != nil || asked.count < Self.handleLimit {
            entries[index].asked[device, default: 0] += 1
            draw.device = device + 1
            draw.turn = entries[index].asked[device, default: 0]
        }
        return turn > 0 && turn % rule.every == 0 && rule.next.map { entries[index].fired < $0 } ?? true
            && draw.fraction < rule.probability
    }

    private mutating func markedFault(_ facts: FaultFacts) -> Fault? {
        guard facts.trigger == .request, let marker = facts.subject.marker, let handle = facts.subject.handle else {
            return nil
        }
        switch marker {
        case .slow(let time): return .slow(.milliseconds(time))
        case .reset: return .reset(.request)
        case .throttle(let times):
            if marked.count >= Self.handleLimit { marked = [:] }
            marked[handle, default: 0] += 1
            return marked[handle, default: 0] <= times ? marker.fault.map(Fault.service) : nil
        case .unregistered, .unknown, .error, .unavailable: return marker.fault.map(Fault.service)
        }
    }

    /// The source of a random number from 0 up to 1, which depends only on the four properties of this type.
    private struct Draw {
        var seed: UInt64
        var rule: Int
        var device: Int
        var turn: Int

        var fraction: Double {
            var state = seed
            for part in [rule, device, turn] { state = Self.mix(state ^ UInt64(truncatingIfNeeded: part)) }
            return Double(state >> 11) / Double(1 << 53)
        }

        /// Performs one step of SplitMix64.
        private static func mix(_ value: UInt64) -> UInt64 {
            var value = value &+ 0x9E37_79B9_7F4A_7C15
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }
    }
}
