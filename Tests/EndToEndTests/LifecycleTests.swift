import Foundation
import Testing

/// `martlet reload`, `martlet health` and signals, of a real process.
@Suite(.timeLimit(.minutes(10)))
struct LifecycleTests {
    private func martlet(_ command: String, _ server: RunningServer) async throws -> Finished {
        try await Finished.running(BuiltProducts.martlet, [command, "--data", server.dataDirectory.path])
    }

    @Test func aReloadSaysWhatItTookUpAndWhatWaits() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).conf")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("request-rate = 100\n".utf8).write(to: file)
        let server = try await RunningServer.start(["--config", file.path])
        let nothing = try await martlet("reload", server)
        #expect(nothing.output == "Reloaded: nothing has changed.\n")

        try Data("request-rate = 50\nloops = 1\n".utf8).write(to: file)
        let some = try await martlet("reload", server)
        #expect(some.output == "Reloaded: request-rate. Not taken up until a restart: loops.\n")
        #expect(some.status == 0)

        try Data("request-rate = 20\nuser-request-rate = many\n".utf8).write(to: file)
        let wrong = try await martlet("reload", server)
        #expect(wrong.status == 1)
        #expect(
            wrong.output == "martlet: --user-request-rate must be a number from 1 to 1000000. "
                + "--user-request-rate is set in \(file.path), line 2.\n")

        try Data("request-rate = 50\nloops = 1\n".utf8).write(to: file)
        let same = try await martlet("reload", server)
        #expect(same.output == "Reloaded: nothing has changed. Not taken up until a restart: loops.\n")
        #expect(await server.stop() == 0)
    }

    @Test func hangupsAndUserSignalsEndNoServer() async throws {
        let server = try await RunningServer.start()
        for signal in [SIGHUP, SIGUSR1, SIGUSR2] { kill(server.processIdentifier, signal) }
        let health = try await martlet("health", server)
        #expect(health.output == "ready\n")
        #expect(health.status == 0)
        #expect(await server.stop() == 0)
    }

    @Test func withoutAServerThereIsNoHealthAndNothingToReload() async throws {
        let directory = FileManager.default.temporaryDirectory.path
        for command in ["health", "reload"] {
            let answer = try await Finished.running(BuiltProducts.martlet, [command, "--data", directory])
            #expect(answer.status == 1)
            #expect(answer.output == "martlet: No server runs on the data directory '\(directory)'.\n")
        }
    }
}
