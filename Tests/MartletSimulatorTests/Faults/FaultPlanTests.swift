import MartletHTTP
import MartletModel
import MartletPush
import Testing

@testable import MartletSimulator

/// Which requests meet which faults, without a network.
struct FaultPlanTests {
    private static let now = SimulatorFixture.now

    private func facts(
        _ handle: String = "alice", device: Int? = nil, app: String = "app", connection: Int = 1,
        endpoint: SimulatedSubject.Endpoint = .send
    ) -> FaultFacts {
        var facts = FaultFacts(
            service: Courier.platform, faults: Courier.faults, trigger: .request, connection: connection)
        facts.subject = SimulatedSubject(endpoint, app: app, handle: handle, marker: HandleMarker(endOf: handle))
        facts.device = device
        return facts
    }

    private func plan(_ texts: String..., seed: UInt64 = 0) throws -> FaultPlan {
        var plan = FaultPlan(seed: seed)
        for text in texts { try plan.add(FaultRule(text: text[...]), at: Self.now) }
        return plan
    }

    /// A letter for each request: what happened to it, or a point.
    private func pattern(_ plan: inout FaultPlan, _ count: Int, _ facts: FaultFacts) -> String {
        String((0..<count).map { _ in plan.fault(for: facts, at: Self.now)?.name.first ?? "." })
    }

    @Test(arguments: [
        ("slow", "ssssssssss"), ("slow every=3", "..s..s..s."), ("slow next=2", "ss........"),
        ("slow skip=4", "....ssssss"), ("slow every=2 skip=3 next=2", "....s.s..."),
        ("slow probability=0", ".........."),
    ])
    func aRuleTakesItsTurns(text: String, expected: String) throws {
        var plan = try plan(text)
        #expect(pattern(&plan, 10, facts()) == expected)
    }

    @Test func theFirstRuleWhoseTurnItIsWinsAndTheOthersCountOn() throws {
        var plan = try plan("slow every=3", "reset every=2")
        #expect(pattern(&plan, 6, facts()) == ".rsr.s")
    }

    @Test(arguments: [
        "slow service=apns", "slow handle=bob", "slow app=other", "slow connection=2", "slow endpoint=token",
        "slow after=1000", "tlsExpired", "reset at=head", "goAway at=connect",
    ])
    func aRuleLeavesAloneWhatItIsNotFor(text: String) throws {
        var plan = try plan(text)
        #expect(plan.fault(for: facts(), at: Self.now) == nil)
    }

    @Test func aRuleIsForWhatItNames() throws {
        var plan = try plan("slow service=courier handle=alice app=app connection=1 endpoint=send")
        #expect(plan.fault(for: facts(), at: Self.now) == .slow(.seconds(5)))
    }

    @Test func aRuleBeginsAndEndsInItsTime() throws {
        var plan = try plan("slow after=1000 for=2000")
        let times = [0, 999, 1000, 2999, 3000].map { Self.now + .milliseconds($0) }
        #expect(times.map { plan.fault(for: facts(), at: $0) != nil } == [false, false, true, true, false])
    }

    @Test func aServiceIsNotAskedForWordsThatItDoesNotHave() throws {
        var plan = try plan("BadTopic", "strike")
        #expect(plan.fault(for: facts(), at: Self.now) == .service(ServiceFault("strike")))
    }

    @Test func theSameSeedGivesTheSameFaults() throws {
        func run(_ seed: UInt64) throws -> String {
            var plan = try plan("slow probability=0.3", "reset probability=0.3", seed: seed)
            return pattern(&plan, 200, facts())
        }
        #expect(try run(7) == run(7))
        #expect(try run(7) != run(8))
        let slow = try run(7).count { $0 == "s" }
        #expect((40...80).contains(slow))
    }

    @Test func chanceIsDrawnForEachDeviceWhateverTheOrderOfTheOthers() throws {
        func run(_ order: [Int]) throws -> [Int: String] {
            var plan = try plan("slow probability=0.5", seed: 3)
            var patterns: [Int: String] = [:]
            for device in order {
                patterns[device, default: ""] += pattern(&plan, 1, facts("device\(device)", device: device))
            }
            return patterns
        }
        let one = (0..<20).flatMap { _ in [0, 1, 2] }
        #expect(try run(one) == run(one.sorted()))
    }

    @Test func markedHandlesMeetTheirFaults() throws {
        var plan = FaultPlan()
        #expect(pattern(&plan, 4, facts("abc~throttle2")) == "dd..")
        #expect(pattern(&plan, 2, facts("abc~reset")) == "rr")
        #expect(plan.fault(for: facts("abc~slow250"), at: Self.now) == .slow(.milliseconds(250)))
    }

    @Test func aScriptSetsSeedAndFaultsInTheirOrder() throws {
        let script: JSON = [
            "seed": 7, "faults": [["fault": "slow", "delay": 10], ["fault": "rateLimit", "retryAfter": 3]],
        ]
        let plan = try FaultPlan(script: script, at: Self.now)
        #expect(plan.seed == 7)
        #expect(
            plan.entries.map(\.rule.fault) == [
                .slow(.milliseconds(10)), .service(ServiceFault(.rateLimit, retryAfter: .seconds(3))),
            ])
    }

    @Test(arguments: ["[]", "{}", #"{"faults":[{}]}"#, #"{"seed":"x","faults":[]}"#, #"{"seed":-1,"faults":[]}"#])
    func aScriptThatMakesNoSenseIsRefused(text: String) throws {
        let script = try JSON(parsing: Array(text.utf8))
        #expect(throws: SimulatorError.self) { try FaultPlan(script: script, at: Self.now) }
    }

    @Test func thereIsAnEndToRules() throws {
        var plan = FaultPlan()
        let rule = try FaultRule(text: "slow")
        for _ in 0..<100 { try plan.add(rule, at: Self.now) }
        #expect(throws: SimulatorError.self) { try plan.add(rule, at: Self.now) }
    }
}
