import MartletModel
import MartletServer
import Testing

@testable import martlet

struct DurationTextTests {
    @Test(arguments: [
        ("90s", 90, "PT90S"), ("10m", 600, "PT10M"), ("2h", 7200, "PT2H"), ("3d", 259_200, "P3D"),
        ("3650d", 315_360_000, "P3650D"),
    ])
    func aNumberWithAUnitIsADuration(text: String, seconds: Int64, iso8601: String) {
        #expect(DurationText(text)?.seconds == seconds)
        #expect(DurationText(text)?.iso8601 == iso8601)
    }

    @Test(arguments: [
        "", "s", "10", "0m", "-1m", "+1m", "1.5h", "1w", "3651d", "99999999999999999999s", "1h30m", "10M", "٣m",
    ])
    func anythingElseIsNone(text: String) {
        #expect(DurationText(text) == nil)
    }

    @Test func sendsTakeDurations() throws {
        let now = Timestamp(seconds: 1_800_000_000)
        func invocation(_ words: String...) throws -> Invocation {
            try Invocation(SendCommand.command, words: ["demo"] + words) { _ in nil }
        }
        #expect(try invocation("--at", "2h").start(now: now) == now + .seconds(7200))
        #expect(try invocation("--expires", "10m").expiry() == "PT10M")
        #expect(try invocation("--rollout", "over=10m; halt=5%").rollout() == "over=PT10M; halt=5%")
        #expect(try invocation("--rollout", "over=PT10M").rollout() == "over=PT10M")
        #expect(try invocation("--rollout", "rate=500").rollout() == "rate=500")
    }

    @Test func aPortAloneIsEveryAddress() throws {
        let address = try #require(ServerConfiguration.Address(":8443"))
        #expect(address.isEveryAddress && address.port == 8443 && !address.isLoopback)
        #expect(address.description == ":8443")
        for text in [":", ":x", ":70000", "8443", "::", "[::1]"] {
            #expect(ServerConfiguration.Address(text) == nil, "\(text)")
        }
        #expect(ServerConfiguration.Address("127.0.0.1:1")?.isEveryAddress == false)
    }

    @Test(arguments: ["send --encrypt --to a x", "send --to a --encrypt x", "notify x --to a --encrypt"])
    func encryptionIsAskedForAnywhere(line: String) throws {
        guard case .run(let command, let rest) = try Martlet.table.request(line.split(separator: " ").map(String.init))
        else {
            Issue.record("it is not run")
            return
        }
        #expect(command.name == "notify --encrypt")
        #expect(!rest.contains("--encrypt"))
    }
}
