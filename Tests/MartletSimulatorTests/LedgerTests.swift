import Foundation
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletPush
import Testing

@testable import MartletSimulator

struct LedgerTests {
    @Test func whatIsTakenIsNotedAndNothingElse() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ledger-\(UUID()).jsonl").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let fixture = SimulatorFixture(ledger: try SimulatorLedger(path: path))
        let token = try SimulatorFixture.providerToken(.generate())
        let handle = try await fixture.device()
        _ = try await fixture.control(.put, "/simulator/faults", ["faults": [["fault": "unavailable", "next": 1]]])
        _ = await fixture.push("refused", to: handle, token: token)
        _ = await fixture.push("taken", to: handle, token: token)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let line = try JSON(parsing: Array(try #require(lines.first).utf8))
        #expect(lines.count == 1)
        #expect(line["service"]?.string == "apns")
        #expect(line["handle"]?.string == handle)
        #expect(line["payload"]?["aps"]?["alert"]?.string == "taken")
    }

    @Test func whereNoFileCanBeTheSimulatorDoesNotStart() async {
        var configuration = Simulator.Configuration()
        configuration.ledger = "/dev/null/ledger"
        await #expect(throws: SimulatorError.self) { try await Simulator.start(configuration) }
    }
}
