import Glibc
import MartletServer
import Testing

@testable import martlet

struct InvocationTests {
    private static let command = Command(
        "bird watch", operands: ["PLACE"], "Watch birds.",
        options: [
            Option("hours", "N", "How long.", default: "1"), Option("ca-file", "FILE", "Trust."),
            Option("quiet", nil, "Say nothing."), Option("call", "SECRET", "What lures them.", isSecret: true),
        ]
    ) { _ in }

    private func invocation(
        _ words: String..., environment: [String: String] = [:]
    ) throws -> Invocation {
        try Invocation(Self.command, words: words) { environment[$0] }
    }

    /// A file that is gone with the returned object.
    private final class TemporaryFile {
        let path: String

        init(_ text: String) throws {
            var template = Array("martlet-configuration-XXXXXX".utf8CString)
            let file = mkstemp(&template)
            path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            try #require(file >= 0)
            defer { close(file) }
            let bytes = Array(text.utf8)
            try #require(write(file, bytes, bytes.count) == bytes.count)
        }

        deinit { unlink(path) }
    }

    @Test func theFileOfAPackagedServerIsReadWhereNothingSaysWhichServerIsMeant() throws {
        let command = Command("nest list", "List nests.", options: [.data]) { _ in }
        let system = try TemporaryFile("data = /packaged")
        let other = try TemporaryFile("data = /other")
        func data(_ words: [String] = [], _ environment: [String: String] = [:], file: String? = nil) throws -> String?
        {
            try Invocation(
                command, words: words, environment: { environment[$0] }, systemFile: file ?? system.path)["data"]
        }
        #expect(try data() == "/packaged")
        #expect(try data(["--data", "here"]) == "here")
        #expect(try data(["--config", other.path]) == "/other")
        #expect(try data([], ["MARTLET_DATA": "here"]) == "here")
        #expect(try data([], ["MARTLET_CONFIG": other.path]) == "/other")
        #expect(try data([], ["MARTLET_CONFIG": ""]) == "data")
        #expect(try data(file: "/nonexistent/martlet.conf") == "data")
    }

    @Test func aFlagAloneTakesNothingFromASettingOfTheSameName() throws {
        let file = try TemporaryFile("simulator = true\n")
        let flag = Option("simulator", "URL", "Where it is.", default: "here", isFlagAlone: true)
        let command = Command("nest list", "List nests.", options: [.data, flag]) { _ in }
        func value(_ words: String...) throws -> String? {
            try Invocation(
                command, words: words, settings: ["simulator"], environment: { ["MARTLET_SIMULATOR": "true"][$0] },
                systemFile: file.path)["simulator"]
        }
        #expect(try value() == "here")
        #expect(try value("--simulator", "there") == "there")
    }

    @Test func aFlagBeatsTheEnvironmentWhichBeatsTheFileWhichBeatsTheDefault() throws {
        let file = try TemporaryFile("# comment\n\n hours = 2 \nca-file=a=b\n")
        let environment = ["MARTLET_HOURS": "3", "MARTLET_CONFIG": file.path]
        #expect(try invocation("x")["hours"] == "1")
        #expect(try invocation("x", "--config", file.path)["hours"] == "2")
        #expect(try invocation("x", environment: environment)["hours"] == "3")
        #expect(try invocation("x", "--hours=4", environment: environment)["hours"] == "4")
        #expect(try invocation("x", "--hours", "5", environment: environment)["hours"] == "5")
        #expect(try invocation("x", environment: environment)["ca-file"] == "a=b")
    }

    @Test func aSecretIsReadFromAFileThatAFlagAVariableOrTheConfigurationNames() throws {
        let file = try TemporaryFile("cuckoo=\n")
        #expect(try invocation("x", "--call", "tweet")["call"] == "tweet")
        #expect(try invocation("x", "--call-file", file.path)["call"] == "cuckoo=")
        #expect(try invocation("x", environment: ["MARTLET_CALL_FILE": file.path])["call"] == "cuckoo=")
        #expect(
            try invocation("x", "--call", "tweet", environment: ["MARTLET_CALL_FILE": file.path])["call"] == "tweet")
        #expect(
            try invocation("x", "--call-file", file.path, environment: ["MARTLET_CALL": "tweet"])["call"] == "cuckoo=")
        let configuration = try TemporaryFile("call-file = \(file.path)\n")
        #expect(try invocation("x", "--config", configuration.path)["call"] == "cuckoo=")
    }

    @Test(arguments: ["", "\n", "one\ntwo\n"])
    func aFileThatIsNotOneLineIsNoSecret(text: String) throws {
        let file = try TemporaryFile(text)
        let error = #expect(throws: ServerError.self) { try invocation("x", "--call-file", file.path) }
        #expect(error?.description.contains("one line of text: the value of --call") == true)
        #expect(error?.description.contains("two") == false)
    }

    @Test func aSecretIsGivenOnce() throws {
        #expect(throws: UsageError.self) { try invocation("x", "--call", "tweet", "--call-file", "f") }
    }

    @Test func everySecretOfACommandCanBeReadFromAFile() {
        let secrets = Martlet.table.commands.flatMap(\.options).filter(\.isSecret).map(\.name)
        for name in ["connection-string", "client-secret", "secret-key", "vapid-private-key", "certificate-password"] {
            #expect(secrets.contains(name))
        }
        for command in Martlet.table.commands {
            let names = Set(command.options.map(\.name))
            for option in command.options where option.isSecret { #expect(names.contains("\(option.name)-file")) }
        }
    }

    @Test func anEmptyEnvironmentVariableCountsAsNone() throws {
        #expect(try invocation("x", environment: ["MARTLET_HOURS": ""])["hours"] == "1")
    }

    @Test func wordsStandBeforeAndBehindOptions() throws {
        #expect(try invocation("--quiet", "here", "--hours", "2").operand("PLACE") == "here")
        #expect(try invocation("--", "--hours").operand("PLACE") == "--hours")
    }

    @Test(arguments: [("true", true), ("1", true), ("ON", true), ("false", false), ("0", false), ("no", false)])
    func aSwitchIsOnOrOff(value: String, isOn: Bool) throws {
        #expect(try invocation("x", environment: ["MARTLET_QUIET": value]).isOn("quiet") == isOn)
        #expect(try invocation("x", "--quiet=\(value)").isOn("quiet") == isOn)
    }

    @Test func aSwitchIsOffUntilItIsGiven() throws {
        #expect(try !invocation("x").isOn("quiet"))
        #expect(try invocation("x", "--quiet").isOn("quiet"))
    }

    @Test(arguments: [
        ([], "'martlet bird watch' takes PLACE; 0 words were given."),
        (["a", "b"], "'martlet bird watch' takes PLACE; 2 words were given."),
        ([""], "PLACE is empty."),
        (["x", "--hour", "1"], "There is no option --hour. Did you mean '--hours'?"),
        (["x", "-q"], "There is no option -q."),
        (["x", "--hours"], "--hours needs a value."),
        (["x", "--hours="], "--hours needs a value."),
        (["x", "--hours", "--quiet"], "--hours needs a value."),
        (["x", "--hours", "1", "--hours", "2"], "--hours is given twice."),
        (["x", "--quiet=perhaps"], "--quiet is a switch: it is given without a value, or with true or false."),
    ])
    func invalidArgumentsAreNamed(words: [String], sentence: String) {
        let error = #expect(throws: UsageError.self) { try Invocation(Self.command, words: words) { _ in nil } }
        #expect(error?.description == sentence)
        #expect(error?.command?.name == "bird watch")
    }

    @Test func aValueOfTheWrongFormIsToldTheRightOne() throws {
        let number = { (text: String) in Int(text) }
        #expect(try invocation("x", "--hours", "7").required("hours", as: "a number", number) == 7)
        #expect(try invocation("x").optional("ca-file", as: "a number", number) == nil)
        let wrong = #expect(throws: UsageError.self) {
            try invocation("x", "--hours", "many").optional("hours", as: "a number", number)
        }
        #expect(wrong?.description == "--hours must be a number.")
        let missing = #expect(throws: UsageError.self) { try invocation("x").required("ca-file") }
        #expect(missing?.description == "--ca-file is missing.")
    }

    @Test func aLineOfTheFileThatIsNoSettingIsNamed() throws {
        let file = try TemporaryFile("hours = 2\nhours\n")
        let error = #expect(throws: (any Error).self) { try invocation("x", "--config", file.path) }
        #expect(error.map { "\($0)" } == "\(file.path), line 2: expected 'key = value'.")
    }
}
