import MartletHTTP
import Testing

@testable import MartletNetwork

struct RunTurnsTests {
    private static let start = ContinuousClock.now
    private static let short = BatchScheduler.BatchState.short(since: start)

    private static func long(_ flow: UInt64, after seconds: Int = 0) -> BatchScheduler.BatchState {
        .long(flow: flow, since: start + .seconds(seconds))
    }

    private static func index(_ turns: inout BatchScheduler, _ statuses: [BatchScheduler.BatchState]) -> Int? {
        turns.next(of: statuses.count) { statuses[$0] }?.index
    }

    @Test func longOnesTakeTurns() {
        var turns = BatchScheduler()
        let statuses: [BatchScheduler.BatchState] = [Self.long(1), .empty, Self.long(2), Self.long(3)]
        #expect((0..<5).map { _ in Self.index(&turns, statuses) } == [0, 2, 3, 0, 2])
    }

    @Test func theOldestBatchOfAFlowGoesFirstAndAFlowHasTheTurnsOfOneBatch() {
        var turns = BatchScheduler()
        let statuses = [
            Self.long(1, after: 3), Self.long(1, after: 1), Self.long(2, after: 4), Self.long(1, after: 2),
        ]
        #expect((0..<4).map { _ in Self.index(&turns, statuses) } == [1, 2, 1, 2])
    }

    @Test func aFlowAloneIsDrawnFromAsMuchAsThereIs() {
        var turns = BatchScheduler()
        let statuses = [Self.long(7, after: 1), Self.long(7), .empty]
        #expect(turns.next(of: 3) { statuses[$0] } == BatchScheduler.Turn(index: 1, items: .max))
    }

    @Test func aShortOneGoesFirstButEveryOtherTurnIsOfTheLongOnes() {
        var turns = BatchScheduler()
        #expect(Self.index(&turns, [Self.long(1), Self.long(2)]) == 0)
        let statuses: [BatchScheduler.BatchState] = [Self.long(1), Self.long(2), Self.short, Self.short]
        #expect((0..<5).map { _ in Self.index(&turns, statuses) } == [2, 1, 2, 0, 2])
    }

    @Test func theOldestShortBatchGoesFirst() {
        var turns = BatchScheduler()
        let statuses: [BatchScheduler.BatchState] = [
            .short(since: Self.start + .seconds(2)), Self.long(1), .short(since: Self.start + .seconds(1)),
            .short(since: Self.start + .seconds(3)),
        ]
        #expect(Self.index(&turns, statuses) == 2)
    }

    @Test func aSingleBatchIsDrawnWithoutTurns() {
        var turns = BatchScheduler()
        #expect(turns.next(of: 2) { $0 == 0 ? .empty : Self.short } == BatchScheduler.Turn(index: 1, items: .max))
        #expect(
            turns.next(of: 2) { Self.long(UInt64($0)) } == BatchScheduler.Turn(index: 0, items: BatchScheduler.portion))
    }

    @Test(arguments: [[short, short], [short, long(1)]])
    func besideOthersNobodyHasMoreThanATurn(statuses: [BatchScheduler.BatchState]) {
        var turns = BatchScheduler()
        #expect(turns.next(of: 2) { statuses[$0] }?.items == BatchScheduler.portion)
    }

    @Test func nothingIsDrawnWhereAllAreEmpty() {
        var turns = BatchScheduler()
        #expect(turns.next(of: 0) { _ in Self.short } == nil)
        #expect(turns.next(of: 3) { _ in .empty } == nil)
    }
}

/// Batches that share a connection.
struct SharedConnectionTests {
    private static let tiny = 3

    /// How many of a large batch were answered when the last of a tiny one was that came after it had begun.
    private func largeBeforeTiny(_ kind: BulkPair.Kind, streams: UInt32) -> (large: Int, isWhole: Bool) {
        var settings = HTTP2Settings()
        settings.streamLimit = streams
        let pair = BulkPair(kind, settings: settings)
        let large = BatchLedger()
        let tiny = BatchLedger()
        let now = pair.clientConnection.now
        let until = now + .seconds(30)
        pair.client.draw(from: large.run(notifications(5000), from: now, before: until))
        for _ in 0..<6 { step(pair) }
        let before = large.entries.count
        pair.client.draw(from: tiny.run(notifications(Self.tiny), from: now, before: until))
        for _ in 0..<500 where tiny.entries.count < Self.tiny { step(pair) }
        let between = large.entries.count - before
        for _ in 0..<5000 where large.entries.count < 5000 { step(pair) }
        return (between, tiny.entries.count == Self.tiny && large.entries.count == 5000)
    }

    /// What each side has to say, once.
    private func step(_ pair: BulkPair) {
        pair.server.receive(pair.client.written())
        pair.client.receive(pair.server.written())
    }

    @Test(arguments: BulkPair.Kind.allCases, [10, 100] as [UInt32])
    func aTinyBatchDoesNotWaitForALargeOne(kind: BulkPair.Kind, streams: UInt32) {
        let (large, isWhole) = largeBeforeTiny(kind, streams: streams)
        #expect(isWhole)
        #expect(large <= Int(streams) * 2 + BatchScheduler.portion)
    }

    @Test(arguments: BulkPair.Kind.allCases)
    func pagesOfAMessageGoOneAfterAnotherAndHaveTheTurnsOfOne(kind: BulkPair.Kind) {
        let streams = 100
        var settings = HTTP2Settings()
        settings.streamLimit = UInt32(streams)
        let pair = BulkPair(kind, settings: settings)
        let ledgers = [BatchLedger(), BatchLedger(), BatchLedger()]
        let now = pair.clientConnection.now
        for (ledger, flow) in zip(ledgers, [1, 1, 2] as [UInt64]) {
            var batch = notifications(2000)
            batch.flow = flow
            pair.client.draw(from: ledger.run(batch, from: now, before: now + .seconds(30)))
        }
        func counts() -> [Int] { ledgers.map(\.entries.count) }
        for _ in 0..<5000 where counts()[0] < 2000 { step(pair) }
        #expect(counts()[1] <= streams + BatchScheduler.portion)
        #expect(counts()[2] >= 2000 - streams - BatchScheduler.portion)
        for _ in 0..<5000 where counts() != [2000, 2000, 2000] { step(pair) }
        #expect(counts() == [2000, 2000, 2000])
    }
}
