import Testing

@testable import martlet

struct ConfigurationFileTests {
    private let settings: Set<String> = ["listen", "public-url", "faults", "tls-listen"]

    private func parse(_ text: String) throws -> [String: String] {
        try ConfigurationFile.parse(text, path: "martlet.conf", settings: settings).mapValues(\.value)
    }

    @Test(arguments: [
        ("listen = 127.0.0.1:80", "127.0.0.1:80"), ("listen=a=b", "a=b"), ("  listen =  a b  ", "a b"),
        ("listen = 1 # one", "1"), ("listen = 1 #", "1"), ("listen = a#b", "a#b"), ("listen = 'a'", "a"),
        ("listen = \"a # b\" # c", "a # b"), ("listen = 'say \"x\"'", "say \"x\""), ("listen = \" a \"", " a "),
        ("# listen = 2\n\nlisten = 1\r\n# x", "1"), ("\u{FEFF}listen = 1", "1"),
    ])
    func aLineSetsAValue(text: String, value: String) throws {
        #expect(try parse(text) == ["listen": value])
    }

    @Test(arguments: [
        ("a\n", 1, "expected 'key = value'."), ("= a\n", 1, "expected 'key = value'."),
        ("\n\nlistne = 1", 3, "no command has a setting 'listne'. Did you mean 'listen'?"),
        ("\r\n\r\nport = 1", 3, "no command has a setting 'port'."),
        ("listen = 1\nlisten = 2", 2, "'listen' is set already in line 1."),
        ("listen =", 1, "'listen' has no value: give one, or remove the line."),
        ("listen = # 1", 1, "'listen' has no value: give one, or remove the line."),
        ("listen = \"\"", 1, "'listen' has no value: give one, or remove the line."),
        ("listen = \"a", 1, "a quote is not closed."), ("listen = 'a' b", 1, "there is text after the closing quote."),
    ])
    func aLineThatSetsNothingIsNamed(text: String, line: Int, sentence: String) throws {
        let error = try #require(throws: UsageError.self) { try parse(text) }
        #expect(error.description == "martlet.conf, line \(line): \(sentence)")
        #expect(Help.hint(after: error, Martlet.table) == "'martlet config example' prints every setting.")
    }

    @Test func theExampleSetsNothingAndNamesEverySettingOfTheServer() throws {
        let options = ServeCommand.command.options
        let text = ConfigurationExample.text(options)
        #expect(try ConfigurationFile.parse(text, path: "", settings: []).isEmpty)
        // Without the comment signs it is a file that sets everything, to the defaults where there are any.
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") }
        let set = try ConfigurationFile.parse(
            lines.map { $0.dropFirst() }.joined(separator: "\n"), path: "", settings: Martlet.table.settings)
        #expect(Set(set.keys) == Set(options.map(\.name)))
        for option in options { #expect(option.fallback == nil || set[option.name]?.value == option.fallback) }
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 120 })
    }

    @Test func aVariableThatSetsNothingIsWarnedOf() {
        let names = [
            "MARTLET_LISTEN", "MARTLET_LISTNE", "MARTLET_CONFIG", "MARTLET_SECRET_KEY", "PATH", "MARTLET_PORT",
        ]
        #expect(
            EnvironmentVariables.warnings(names, settings: settings) == [
                "No command has a setting MARTLET_LISTNE. Did you mean 'MARTLET_LISTEN'?",
                "No command has a setting MARTLET_PORT.",
            ])
        #expect(EnvironmentVariables.names.contains("PATH"))
    }
}
