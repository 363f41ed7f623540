import MartletServer
import Testing

@testable import martlet

struct CommandTableTests {
    private func request(_ line: String) throws -> CommandTable.Request {
        try Martlet.table.request(line.split(separator: " ").map(String.init))
    }

    @Test func theLongestPathSelectsTheCommand() throws {
        guard case .run(let command, let rest) = try request("hub credential set demo apns --key-id K") else {
            Issue.record("it is not run")
            return
        }
        #expect(command.name == "hub credential set")
        #expect(rest == ["demo", "apns", "--key-id", "K"])
    }

    @Test(arguments: ["serve --help", "serve --listen x -h", "help serve"])
    func helpForACommand(line: String) throws {
        guard case .help(let command) = try request(line) else {
            Issue.record("'\(line)' asks for no help")
            return
        }
        #expect(command.name == "serve")
    }

    @Test(arguments: [
        ("--help", []), ("help", []), ("hub --help", ["hub"]), ("help hub credential", ["hub", "credential"]),
    ])
    func helpForAGroup(line: String, path: [String]) throws {
        guard case .overview(path) = try request(line) else {
            Issue.record("'\(line)' asks for another overview")
            return
        }
        #expect(!Martlet.table.commands(under: path).isEmpty)
    }

    @Test func aSettingIsASwitchOfAllCommandsOrOfNone() {
        var isSwitch: [String: Bool] = [:]
        for command in Martlet.table.commands(under: []) {
            for option in command.options where !option.isFlagAlone {
                let known = isSwitch.updateValue(option.placeholder == nil, forKey: option.name)
                #expect(known == nil || known == (option.placeholder == nil), "--\(option.name) of \(command.name)")
            }
        }
        #expect(isSwitch["simulator"] == true)
    }

    @Test func noCommandListsAnOptionTwice() {
        for command in Martlet.table.commands(under: []) {
            let names = command.options.map(\.name)
            #expect(Set(names).count == names.count, "\(command.name)")
        }
    }

    @Test func behindTwoDashesNothingAsksForHelp() throws {
        guard case .run = try request("notify -- --help") else {
            Issue.record("the text was taken for an option")
            return
        }
    }

    @Test(arguments: ["--version", "version"])
    func theVersionIsTold(line: String) throws {
        guard case .version = try request(line) else {
            Issue.record("'\(line)' tells no version")
            return
        }
    }

    @Test(arguments: [
        ("", "A command is missing.", "'martlet --help' shows the commands."),
        ("serv", "There is no command 'serv'. Did you mean 'serve'?", "'martlet --help' shows the commands."),
        ("serv --help", "There is no command 'serv'. Did you mean 'serve'?", "'martlet --help' shows the commands."),
        (
            "hub creat demo", "There is no command 'hub creat'. Did you mean 'hub create'?",
            "There are:\n"
                + Martlet.table.commands(under: ["hub"]).map { "  martlet \($0.usage)" }.joined(separator: "\n")
        ),
        (
            "--data x serve", "The command comes first, then its options: there is no command '--data'.",
            "'martlet --help' shows the commands."
        ),
        (
            "user", "'martlet user' needs a further word.",
            "There are:\n  martlet user add NAME\n  martlet user list\n  martlet user remove NAME\n"
                + "  martlet user end-sessions NAME\n  martlet user role add NAME ROLE\n  martlet user role remove NAME ROLE\n"
                + "  martlet user group add NAME GROUP\n  martlet user group remove NAME GROUP"
        ),
        (
            "user delete bob", "There is no command 'user delete'.",
            "There are:\n  martlet user add NAME\n  martlet user list\n  martlet user remove NAME\n"
                + "  martlet user end-sessions NAME\n  martlet user role add NAME ROLE\n  martlet user role remove NAME ROLE\n"
                + "  martlet user group add NAME GROUP\n  martlet user group remove NAME GROUP"
        ),
    ])
    func anUnknownCommandListsTheCommands(line: String, sentence: String, hint: String) throws {
        let error = try #require(throws: UsageError.self) { try request(line) }
        #expect(error.description == sentence)
        #expect(Help.hint(after: error, Martlet.table) == hint)
    }

    @Test func everyOptionHasAnEnvironmentVariableOfItsName() {
        for option in Martlet.table.commands.flatMap(\.options) {
            #expect(option.environmentVariable.hasPrefix("MARTLET_"))
            #expect(!option.environmentVariable.contains("-"))
            #expect(option.environmentVariable != "MARTLET_CONFIG")
        }
    }

    @Test func aCredentialErrorSpeaksOfFlags() throws {
        let field = try #require(Platforms.credentialFields.first)
        let platform = try #require(field.platforms.first)
        #expect(
            HubCommands.inFlags("Give \(field.property), or nothing.", of: platform)
                == "Give --\(field.flag), or nothing.")
        #expect(HubCommands.inFlags("Give \(field.property)", of: "pigeon") == "Give \(field.property)")
    }
}
