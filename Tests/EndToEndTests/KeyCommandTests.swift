import Foundation
import Testing

/// `martlet hub key` and `martlet namespace`, with a server and without one.
@Suite(.timeLimit(.minutes(10)))
struct KeyCommandTests {
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
        "martlet-\(UUID().uuidString)")

    /// What a command prints.
    private func martlet(_ words: String..., data: URL) async throws -> String {
        // Where it is not known what clients call the server, commands say so.
        let done = try await Finished.running(
            BuiltProducts.martlet, words + ["--data", data.path],
            environment: ["MARTLET_PUBLIC_URL": "https://push.example.org"])
        #expect(done.status == 0, "\(words)")
        return done.output
    }

    private func check(_ data: URL) async throws {
        let created = try await martlet("hub", "create", "demo", data: data)
        let rule = "DefaultFullSharedAccessSignature"
        #expect(created.contains(";SharedAccessKeyName=\(rule);"))
        let before = try await martlet("hub", "key", "list", "demo", data: data)
        let new = try await martlet("hub", "key", "regenerate", "demo", rule, "secondary", "--yes", data: data)
        let after = try await martlet("hub", "key", "list", "demo", data: data)
        let changed = zip(before.split(separator: "\n"), after.split(separator: "\n")).filter { $0 != $1 }
        #expect(changed.map { String($0.1) } == ["  secondary: \(new.trimmingCharacters(in: .newlines))"])
        let root = try await martlet("namespace", "connection-string", data: data)
        #expect(root.contains(";SharedAccessKeyName=RootManageSharedAccessKey;"))
        let newRoot = try await martlet(
            "namespace", "key", "regenerate", "RootManageSharedAccessKey", "primary", "--yes", data: data)
        #expect(newRoot != root)
        #expect(try await martlet("namespace", "connection-string", data: data) == newRoot)
    }

    @Test func keysAreRegeneratedThroughARunningServer() async throws {
        let server = try await RunningServer.start()
        try await check(server.dataDirectory)
        #expect(await server.stop() == 0)
    }

    @Test func keysAreRegeneratedWithoutAServer() async throws {
        try await check(directory)
        try FileManager.default.removeItem(at: directory)
    }
}
