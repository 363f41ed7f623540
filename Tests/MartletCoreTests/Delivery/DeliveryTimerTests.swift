import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct DeliveryTimerTests {
    private let time = ManualTimeSource()
    private let fires = AsyncStream<Void>.makeStream()

    @Test(.timeLimit(.minutes(10))) func itFiresAtTheTimestampThatWasSetLast() async {
        let timer = DeliveryTimer(time: time) { [fires] in fires.continuation.yield() }
        let start = time.now
        timer.set(start + .seconds(60), asOf: start)
        timer.set(start + .seconds(30), asOf: start)
        while time.nextWake != start + .seconds(30) { await Task.yield() }
        time.advance(by: .seconds(30))
        for await _ in fires.stream { break }
        #expect(time.nextWake == nil)
    }

    @Test(.timeLimit(.minutes(10))) func aStepBackBeforeTheSleepBeginsIsNoticed() async {
        let timer = DeliveryTimer(time: time) { [fires] in fires.continuation.yield() }
        let reading = time.now
        time.advance(by: .seconds(-86_400))
        timer.set(reading + .seconds(60), asOf: reading)
        for await _ in fires.stream { break }
        #expect(time.nextWake == nil)
    }
}
