import Testing

@testable import MartletServer

struct ServingMoveStateTests {
    private func state(_ stage: ServingMoveState.Stage) -> ServingMoveState {
        var state = ServingMoveState()
        guard stage != .none else { return state }
        _ = state.begin()
        guard stage != .copying else { return state }
        _ = state.stop()
        guard stage != .stopped else { return state }
        _ = state.decide()
        if stage == .moved { state.succeed() }
        return state
    }

    @Test func aMoveGoesThroughItsStages() {
        var move = ServingMoveState()
        #expect(move.begin() != nil && move.begin() == nil)
        #expect(!move.isStopped)
        #expect(move.decide() == false, "It is not stopped yet.")
        #expect(move.stop() && !move.stop())
        #expect(move.isStopped)
        #expect(move.decide() && !move.decide())
        move.succeed()
        #expect(move.stage == .moved && move.isStopped && move.begin() == nil)
    }

    @Test(arguments: [(ServingMoveState.Stage.copying, false), (.stopped, true)])
    func aMoveCanBeGivenUpUntilItIsDecided(_ stage: ServingMoveState.Stage, _ wasStopped: Bool) {
        var move = state(stage)
        #expect(move.giveUp(because: "the caller has gone") == wasStopped)
        #expect(move.refusal == "the caller has gone" && !move.isStopped)
        #expect(!move.stop() && !move.decide())
        #expect(move.begin() == nil, "The work has not ended yet.")
        #expect(move.fail(isDoubtful: false) == false, "The server goes on already.")
        if wasStopped { move.resumed() }
        #expect(move.begin() != nil && move.refusal == nil)
    }

    @Test(arguments: [ServingMoveState.Stage.none, .completing, .moved])
    func nothingElseCanBeGivenUp(_ stage: ServingMoveState.Stage) {
        var move = state(stage)
        #expect(move.giveUp(because: "the caller has gone") == nil)
        #expect(move.stage == stage && move.refusal == nil)
    }

    @Test func aServerGoesOnIfItsMoveFailsUnlessThatIsDoubtful() {
        var move = state(.copying)
        #expect(!move.fail(isDoubtful: false) && move.stage == .none)
        move = state(.stopped)
        #expect(move.fail(isDoubtful: false) && !move.isStopped)
        move = state(.completing)
        #expect(move.fail(isDoubtful: false) && !move.isStopped)
        move = state(.completing)
        #expect(!move.fail(isDoubtful: true) && move.isStopped && move.begin() == nil)
    }

    @Test func noMoveBeginsUntilTheServerHasGoneOnAfterTheLast() {
        var move = state(.stopped)
        #expect(move.giveUp(because: "it took too long") == true)
        #expect(!move.fail(isDoubtful: false) && move.begin() == nil, "It would be resumed while it is stopped.")
        move.resumed()
        #expect(move.begin() != nil && move.stop() && move.fail(isDoubtful: false))
        #expect(move.begin() == nil)
        move.resumed()
        #expect(move.begin() != nil)
    }

    @Test func onlyTheMoveThatIsMeantIsGivenUp() {
        var move = ServingMoveState()
        let first = move.begin()
        _ = move.fail(isDoubtful: false)
        let second = move.begin()
        #expect(first != nil && second != nil)
        #expect(move.giveUp(first, because: "its caller has gone") == nil && move.refusal == nil)
        #expect(move.giveUp(second, because: "its caller has gone") == false && move.refusal != nil)
    }
}
