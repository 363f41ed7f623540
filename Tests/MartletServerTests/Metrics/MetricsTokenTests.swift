import MartletHTTP
import Testing

@testable import MartletServer

struct MetricsTokenTests {
    private let directory = TemporaryDirectory()
    private var file: String { "\(directory.path)/token" }

    private func token(_ text: String) throws -> MetricsToken {
        try SecretFile.write(Array(text.utf8), to: file)
        return try MetricsToken(file: file)
    }

    @Test(arguments: ["", "\n", "\r\n"])
    func theLineOfTheFileOpensAndNothingElseDoes(end: String) throws {
        let token = try token("0123456789abcdef" + end)
        for (authorization, opens) in [
            ("Bearer 0123456789abcdef", true), ("bearer 0123456789abcdef", true), ("Bearer 0123456789abcdeF", false),
            ("Bearer 0123456789abcde", false), ("Bearer", false), ("Bearer ", false), ("", false),
            ("0123456789abcdef", false), ("Basic 0123456789abcdef", false), ("Bearer 0123456789abcdef ", false),
        ] {
            let request = HTTPRequest(.get, "/metrics", fields: ["authorization": authorization])
            #expect(token.isIn(request) == opens, "\(authorization)")
        }
        #expect(!token.isIn(HTTPRequest(.get, "/metrics")))
    }

    @Test(arguments: ["", "short", "0123456789abcdef\nmore", "0123456789 abcdef", "0123456789abcdefü"])
    func aFileWithoutOneLongLineIsRefused(text: String) throws {
        #expect(throws: ServerError.self) { try token(text) }
    }

    @Test func aFileThatIsTooLongOrMissingIsRefused() throws {
        #expect(throws: ServerError.self) { try token(String(repeating: "a", count: 2000)) }
        #expect(throws: ServerError.self) { try MetricsToken(file: "\(directory.path)/nothing") }
    }
}
