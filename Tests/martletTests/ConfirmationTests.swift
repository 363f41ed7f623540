import MartletServer
import Testing

@testable import martlet

struct ConfirmationTests {
    private typealias Confirmation = martlet.Confirmation

    @Test(arguments: [
        (true, true, martlet.Confirmation.given), (true, false, .given), (false, true, .asked),
        (false, false, .missing),
    ])
    func aPersonIsAskedAndAScriptMustSayYes(isGiven: Bool, isInteractive: Bool, decision: martlet.Confirmation) {
        #expect(Confirmation(isGiven: isGiven, isInteractive: isInteractive) == decision)
    }

    @Test("An irreversible command is confirmed on the command line, not in the environment or a file")
    func onlyAFlagConfirms() throws {
        for name in ["hub delete", "user remove", "container delete", "server-key retire", "namespace key regenerate"] {
            let command = try #require(Martlet.table.commands.first { $0.name == name })
            #expect(command.options.contains { $0.name == "yes" }, "\(name)")
            let words = command.operands.map { _ in "x" }
            #expect(try !Invocation(command, words: words) { $0 == "MARTLET_YES" ? "true" : nil }.isOn("yes"))
            #expect(try Invocation(command, words: words + ["--yes"]) { _ in nil }.isOn("yes"))
        }
        #expect(!Martlet.table.settings.contains("yes"))
        #expect(!Martlet.table.settings.contains("everybody"))
    }

    @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (39_950, "39,950"), (-1_234_567, "-1,234,567")])
    func largeNumbersAreGrouped(number: Int64, text: String) {
        #expect(number.grouped == text)
    }
}

struct SendTargetTests {
    private func target(_ words: String...) throws -> SendTarget {
        try SendTarget(
            Invocation(SendCommand.command, words: ["demo"] + words) { $0 == "MARTLET_EVERYBODY" ? "1" : nil })
    }

    @Test func aSendSaysWhomItIsFor() throws {
        #expect(try target("--tags", "a && b") == .tags("a && b"))
        #expect(try target("--handle", "h") == .handle("h"))
        #expect(try target("--everybody") == .everybody)
    }

    @Test(arguments: [[], ["--tags", " "], ["--tags", "a", "--everybody"], ["--handle", "h", "--tags", "a"]])
    func anythingElseSendsNothing(words: [String]) {
        #expect(throws: UsageError.self) {
            try SendTarget(Invocation(SendCommand.command, words: ["demo"] + words) { _ in nil })
        }
    }

    @Test func theFormatOfASendGoesByBothNames() throws {
        for (name, format) in [("apple", "apple"), ("apns", "apple"), ("APNS", "apple"), ("Template", "template")] {
            #expect(Platforms.format(named: name) == format)
        }
        #expect(Platforms.format(named: "pigeon") == nil)
        #expect(Platforms.platform(named: "apple") == "apns")
        #expect(Platforms.formatsWithPlatforms.hasPrefix("apple (apns), "))
        let wrong = try Invocation(SendCommand.command, words: ["demo", "--platform", "appel"]) { _ in nil }
        let error = try #require(throws: UsageError.self) { try wrong.format() }
        #expect(error.description == "--platform must be one of \(Platforms.formatsWithPlatforms).")
    }
}
