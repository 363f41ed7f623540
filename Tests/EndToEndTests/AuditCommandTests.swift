import Foundation
import Testing

/// `martlet audit`, with a server and without one.
@Suite(.timeLimit(.minutes(10)))
struct AuditCommandTests {
    private func run(_ words: [String], data: URL) async throws -> Finished {
        try await Finished.running(BuiltProducts.martlet, words + ["--data", data.path])
    }

    private func addUser(_ name: String, data: URL) async throws {
        let line = "printf 'correct horse' | \"$0\" user add \"$1\" --password-stdin --data \"$2\""
        let done = try await Finished.running(
            URL(fileURLWithPath: "/bin/sh"), ["-c", line, BuiltProducts.martlet.path, name, data.path])
        #expect(done.status == 0, "\(done.output)")
    }

    private func curl(_ user: String, _ url: URL, _ words: String...) async throws -> String {
        try await Finished.running(
            URL(fileURLWithPath: "/usr/bin/curl"),
            ["--silent", "--user", "\(user):correct horse", url.absoluteString] + words
        ).output
    }

    /// The lines of the audit, without their times.
    private func audit(_ words: String..., data: URL) async throws -> [String] {
        let done = try await run(["audit"] + words, data: data)
        #expect(done.status == 0, "\(done.output)")
        return done.output.split(separator: "\n").map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
    }

    @Test func fetchesAndRefusalsOfSecretsArePrinted() async throws {
        let server = try await RunningServer.start(["--simulator", "--simulator-listen", "127.0.0.1:0"])
        let data = server.dataDirectory
        #expect(try await run(["hub", "create", "demo"], data: data).status == 0)
        for name in ["alice", "bob"] { try await addUser(name, data: data) }
        let notifications = try #require(server.address("http")).appendingPathComponent("api/notifications")
        let sent = try await curl(
            "alice", notifications.appendingPathComponent("secure"), "--header", "Content-Type: application/json",
            "--data", #"{"to": "bob", "payload": "the code is 4711", "once": true}"#)
        #expect(sent.hasPrefix(#"{"id":"#), "\(sent)")
        let id = sent.filter(\.isNumber)
        for user in ["bob", "bob", "alice"] {
            _ = try await curl(user, notifications.appendingPathComponent(id))
        }
        let wanted = ["read \(id) bob 127.0.0.1", "refused \(id) bob 127.0.0.1", "refused \(id) alice 127.0.0.1"]
        #expect(try await audit(data: data) == wanted)
        #expect(try await audit("--limit", "1", data: data) == wanted.suffix(1))
        #expect(try await audit("--user", "BOB", "--payload", id, data: data) == wanted.dropLast())
        #expect(try await audit("--user", "carol", data: data) == [])
        let wrongs: [([String], Int32)] = [
            (["--payload", "0"], 1), (["--limit", "0"], 64), (["--limit", "many"], 64), (["--user", "a b"], 1),
        ]
        for (wrong, status) in wrongs {
            let done = try await run(["audit"] + wrong, data: data)
            #expect(done.status == status, "\(wrong)")
        }
        #expect(await server.stop() == 0)
    }

    @Test func nothingIsPrintedWhereNothingWasFetchedAndNoServerRuns() async throws {
        let data = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
        try await addUser("alice", data: data)
        #expect(try await audit(data: data) == [])
        try FileManager.default.removeItem(at: data)
        #expect(try await run(["audit"], data: data).status == 1, "a mistyped directory is not made")
    }
}
