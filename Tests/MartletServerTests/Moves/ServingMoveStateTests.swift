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
        #expect(move.begin() && !move.begin())
        #expect(!move.isStopped)
        #expect(move.decide() == false, "It is not stopped yet.")
        #expect(move.stop() && !move.stop())
        #expect(move.isStopped)
        #expect(move.decide() && !move.decide())
        move.succeed()
        #expect(move.stage == .moved && move.isStopped && !move.begin())
    }

    @Test(arguments: [(ServingMoveState.Stage.copying, false), (.stopped, true)])
    func aMoveCanBeGivenUpUntilItIsDecided(_ stage: ServingMoveState.Stage, _ wasStopped: Bool) {
        var move = state(stage)
        #expect(move.giveUp(because: "the caller has gone") == wasStopped)
        #expect(move.refusal == "the caller has gone" && !move.isStopped)
        #expect(!move.stop() && !move.decide())
        #expect(move.begin() == false, "The work has not ended yet.")
        #expect(move.fail(isDoubtful: false) == false, "The server goes on already.")
        #expect(move.begin() && move.refusal == nil)
    }

    @Test(arguments: [ServingMoveState.Stage.none, .completing, .moved])
    func nothingElseCanBeGivenUp(_ stage: ServingMoveState.Stage) {
        var move = state(stage)
        #expect(move.giveUp(because: "the caller has gone") == false)
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
        #expect(!move.fail(isDoubtful: true) && move.isStopped && !move.begin())
    }
}
