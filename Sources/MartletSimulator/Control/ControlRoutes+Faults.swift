import MartletHTTP
import MartletModel
import MartletPush

/// The routes that set faults and the simulated clock.
extension ControlRoutes {
    /// The range by which one request can move the clock, in seconds: up to ten years forward or back.
    private static let clockRange: ClosedRange<Int64> = -315_360_000...315_360_000

    func addFaults(to router: inout Router) {
        let state = state
        router.on(.get, "/simulator/faults") { _, _ in
            Self.json(state.withContents { contents, _ in contents.plan.json })
        }
        router.on(.post, "/simulator/faults", bodyLimit: Self.bodyLimit) { request, _ in
            Self.answer { () throws(SimulatorError) in
                let rule = try FaultRule(try Self.body(request))
                let id = try state.add(rule)
                return Self.json(["id": .integer(Int64(id))], status: .created)
            }
        }
        router.on(.put, "/simulator/faults", bodyLimit: 4 * Self.bodyLimit) { request, _ in
            Self.answer { () throws(SimulatorError) in
                try state.replacePlan(script: try Self.body(request))
                return HTTPResponse(.noContent)
            }
        }
        router.on(.delete, "/simulator/faults") { _, _ in
            state.withContents { contents, _ in contents.plan.removeAll() }
            return HTTPResponse(.noContent)
        }
        router.on(.delete, "/simulator/faults/{id}") { _, match in
            let wasThere = Int(match["id"]).map { id in
                state.withContents { contents, _ in contents.plan.remove(id) }
            }
            return wasThere == true ? HTTPResponse(.noContent) : Self.refuse(.notFound, "There is no such fault.")
        }
        router.on(.post, "/simulator/clock", bodyLimit: Self.bodyLimit) { request, _ in
            Self.answer { () throws(SimulatorError) in
                guard let seconds = try Self.body(request)["advance"]?.integer, Self.clockRange.contains(seconds) else {
                    throw SimulatorError("\"advance\" must be a whole number of seconds, of at most ten years.")
                }
                state.advanceClock(by: .seconds(seconds))
                return Self.json(["now": .string(state.now.iso8601)])
            }
        }
    }
}

extension SimulatorState {
    /// Checks, for each rule of the plan, that a service in the rule's scope can produce the fault.
    /// - Throws: `SimulatorError` if there is no such service.
    func checkFaults() throws(SimulatorError) {
        try withContents { (contents, _) throws(SimulatorError) in
            for entry in contents.plan.entries { try contents.check(entry.rule) }
        }
    }

    func add(_ rule: FaultRule) throws(SimulatorError) -> Int {
        try withContents { (contents, now) throws(SimulatorError) in
            try contents.check(rule)
            return try contents.plan.add(rule, at: now)
        }
    }

    func replacePlan(script: JSON) throws(SimulatorError) {
        try withContents { (contents, now) throws(SimulatorError) in
            let plan = try FaultPlan(script: script, at: now)
            for entry in plan.entries { try contents.check(entry.rule) }
            contents.plan = plan
        }
    }
}

extension SimulatorState.Contents {
    fileprivate func check(_ rule: FaultRule) throws(SimulatorError) {
        let candidates = services.filter { service in rule.scope.service.map { $0 == service.platform } ?? true }
        guard !candidates.isEmpty else { throw SimulatorError("\"service\" names none that is simulated.") }
        guard case .service(let fault) = rule.fault else { return }
        guard candidates.contains(where: { type(of: $0.rules).faults.contains(fault.name) }) else {
            throw SimulatorError("\"fault\": there is no fault \"\(fault.name.rawValue)\" of these services.")
        }
    }
}

extension FaultPlan {
    /// The seed, and the rules as they were written. Each rule also has its number, the number of requests that it
    /// covered, and the number of times that its fault happened.
    fileprivate var json: JSON {
        let rules = entries.map { entry in
            JSON.object(
                (entry.rule.source.object ?? [:]).merging([
                    "id": .integer(Int64(entry.id)), "seen": .integer(Int64(entry.seen)),
                    "happened": .integer(Int64(entry.fired)),
                ]) { $1 })
        }
        return ["seed": .integer(Int64(clamping: seed)), "faults": .array(rules)]
    }
}
