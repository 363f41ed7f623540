import Testing

@testable import martlet

struct ProgressTests {
    @Test func aLineHasTheRateAndTheTimeLeft() {
        var progress = Progress(.items, isTerminal: true)
        #expect(
            progress.line(12_060, of: 39_950, after: .seconds(3)) == "12,060 of 39,950, 4,020/s, 7 s left")
        #expect(progress.line(39_950, of: 39_950, after: .seconds(10)) == "39,950 of 39,950, 3,995/s")
        #expect(
            progress.line(10, of: nil, notes: ["it is paused"], after: .seconds(20)) == "10, it is paused")
    }

    @Test func onATerminalItIsDrawnFiveTimesASecondElsewhereEveryTenSeconds() {
        var terminal = Progress(.items, isTerminal: true)
        #expect(terminal.line(1, of: 2, after: .milliseconds(199)) == nil)
        #expect(terminal.line(1, of: 2, after: .milliseconds(200)) == "1 of 2")
        #expect(terminal.line(1, of: 2, after: .milliseconds(300)) == nil)
        var file = Progress(.items, isTerminal: false)
        #expect(file.line(1, of: 2, after: .milliseconds(9999)) == nil)
        #expect(file.line(20, of: 40, after: .seconds(10)) == "20 of 40, 2/s, 10 s left")
        #expect(file.line(1, of: 2, after: .seconds(19)) == nil)
    }

    @Test(
        arguments: [
            (100, "1 s"), (9_900, "99 s"), (10_000, "2 min"), (590_000, "98 min"), (720_000, "2 h"),
        ] as [(Int64, String)])
    func theTimeLeftIsRounded(left: Int64, text: String) {
        var progress = Progress(.items, isTerminal: true)
        #expect(
            progress.line(100, of: 100 + left, after: .seconds(1))?.hasSuffix(", 100/s, \(text) left") == true)
    }

    @Test func aShareHasNoRate() {
        var progress = Progress(.percent, isTerminal: true)
        #expect(progress.line(79, of: 100, after: .seconds(10)) == "79 %, 3 s left")
    }

    @Test func bytesAreCountedInThousandsAndMillions() {
        var progress = Progress(.bytes, isTerminal: true)
        #expect(progress.line(999_999, of: 40_500_000, after: .milliseconds(500)) == "999 kB of 40 MB")
    }
}
