import MartletModel
import Testing

@testable import MartletServer

struct LogLineTests {
    private let line = LogLine(
        time: Timestamp(seconds: 1_700_000_000), level: .warning, message: "The disk is full.",
        fields: ["free": 12, "path": "a\nb"])

    private func text(_ format: Log.Format, isJournaled: Bool = false) -> String {
        String(decoding: line.bytes(format, isJournaled: isJournaled), as: UTF8.self)
    }

    @Test func machinesGetAnObject() {
        #expect(
            text(.json)
                == #"{"free":12,"level":"warning","message":"The disk is full.","path":"a\nb","time":"2023-11-14T22:13:20.000Z"}"#
                + "\n")
    }

    @Test func peopleGetASentenceOnOneLine() {
        #expect(text(.text) == "2023-11-14T22:13:20.000Z warning: The disk is full. (free: 12, path: a b)\n")
    }

    @Test func theJournalGetsThePriorityFirst() {
        #expect(text(.json, isJournaled: true).hasPrefix("<4>{"))
        #expect(Log.Level.allCases.map(\.priority) == [7, 6, 4, 3])
    }

    @Test func levelsAreOrdered() {
        #expect(Log.Level.allCases == Log.Level.allCases.sorted())
    }
}

struct LineBudgetTests {
    @Test func linesOverTheRateAreCountedAndReportedLater() {
        var budget = LineBudget(linesPerSecond: 2)
        let now = Timestamp(seconds: 100)
        #expect((0..<5).map { _ in budget.take(at: now).isWritten } == [true, true, false, false, false])
        let later = budget.take(at: now + .seconds(1))
        #expect(later.isWritten)
        #expect(later.dropped == 3)
        #expect(budget.take(at: now + .seconds(2)).dropped == 0)
    }
}
