import Testing

@testable import martlet

struct ManualPageTests {
    @Test func theManualHasEveryCommandAndOption() {
        let page = ManualPage.commands(Martlet.table, version: "1")
        for command in Martlet.table.commands where !command.isInternal {
            #expect(page.contains(Roff.subheading("martlet \(command.usage)")))
            for option in command.options { #expect(page.contains(".B \(Roff.escaped(option.usage))\n")) }
        }
        #expect(!page.contains("martlet complete\n"))
    }

    @Test func theManualOfTheFileHasEverySettingOfTheServer() {
        let page = ManualPage.configuration(ServeCommand.command.options, version: "1")
        for option in ServeCommand.command.options { #expect(page.contains(".B \(Roff.escaped(option.name)) = ")) }
    }

    @Test(arguments: [
        ("a-b", "a\\-b"), (".x", "\\&.x"), ("a\n.x", "a\n\\&.x"), ("C:\\x", "C:\\ex"), ("'x'", "\\(aqx\\(aq"),
    ])
    func textIsNoRequestOfRoff(text: String, escaped: String) {
        #expect(Roff.escaped(text) == escaped)
    }

    @Test func helpOfACredentialListsWhatThePlatformTakes() throws {
        guard case .help(let command) = try Martlet.table.request(["hub", "credential", "set", "x", "apns", "--help"])
        else {
            Issue.record("it is no help")
            return
        }
        #expect(Help.page(command).contains("--key-id"))
        #expect(!Help.page(command).contains("--client-secret"))
        guard case .help(let all) = try Martlet.table.request(["hub", "credential", "set", "--help"]) else { return }
        #expect(Help.page(all).contains("--client-secret"))
    }
}
