import Foundation
import MartletSimulator
import Testing

@testable import martlet

struct FaultOptionsTests {
    private func plan(_ words: String..., prefix: String = "") throws -> FaultPlan {
        let options = FaultOptions(prefix: prefix)
        let command = Command("simulate", "Simulate.", options: options.all) { _ in }
        return try options.plan(Invocation(command, words: words) { _ in nil })
    }

    @Test func faultsAreSeparatedBySemicolons() throws {
        #expect(try plan().seed == 0)
        #expect(try plan("--faults", "slow delay=5; reset next=1;", "--fault-seed", "7").seed == 7)
        #expect(try plan("--simulator-faults", "slow", prefix: "simulator-").seed == 0)
    }

    @Test func aScriptIsReadFromItsFile() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID()).json")
        try Data(#"{"seed": 9, "faults": [{"fault": "slow"}]}"#.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try plan("--fault-script", file.path).seed == 9)
    }

    @Test(arguments: [
        ("--faults", "slow delay=x", "delay"), ("--faults", "slow sometimes", "sometimes"),
        ("--fault-seed", "-1", "fault-seed"),
    ])
    func invalidInputIsAUsageError(option: String, value: String, word: String) {
        let error = #expect(throws: UsageError.self) { try plan("\(option)=\(value)") }
        #expect(error?.description.contains(word) == true)
    }
}
