import Testing

/// What the judges of Tests/Peers find while push services fail and sends meet each other.
@Suite(.serialized, .enabled(if: BuiltProducts.hasPython, Judge.isMissing), .timeLimit(.minutes(10)))
struct DeliveryJudgeTests {
    @Test("Under every fault of a service, alone or combined, each device gets its correct result")
    func everyFaultEndsInTheRightState() async throws {
        try await Judge.run(
            "fault_sweep.py", "--devices", "30", "--rounds", "1", "--combinations", "1")
    }

    @Test("Dead device tokens do not cost the living their streams")
    func suspectsHaveAConnectionOfTheirOwn() async throws {
        try await Judge.run("suspects.py")
    }

    @Test("A send that is canceled, paused or halted stops at once, and its numbers add up")
    func sendsAreControlled() async throws {
        try await Judge.run("control.py", "--devices", "3000")
    }

    @Test("With any behavior of a push service, deliverable messages arrive and valid devices are kept")
    func faultsLeaveTheHubInTheRightState() async throws {
        try await Judge.run("faults.py")
    }

    @Test(
        "Whatever the simulator does as FCM, WNS, MPNS, ADM or Web Push, nothing is lost and nothing kept that is gone")
    func faultsOfServicesAreOvercome() async throws {
        try await Judge.run("service_faults.py")
    }

    @Test("One device whose pushes fail delays no other device of its hub and platform")
    func oneFailingDeviceDelaysNoOther() async throws {
        try await Judge.run("attribution.py")
    }

    @Test("Every answer of FCM, WNS, MPNS and ADM comes to what it ought to")
    func answersOfServicesAreUnderstood() async throws {
        try await Judge.run("service_answers.py")
    }

    @Test("Dead letters are listed, sent again and received once, and a wrong project removes nobody")
    func deadLettersAreSentAgain() async throws {
        try await Judge.run("letters.py")
    }

    /// At last, when the other suites are through: it is about how long things wait.
    @Test("A short send overtakes a backlog of broadcasts, and a silent service delays no other hub")
    func shortSendsOvertake() async throws {
        try await Judge.run("overtaking.py")
    }
}
