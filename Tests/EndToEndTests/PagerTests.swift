import Foundation
import Testing

/// Two apps on Linux, made of the SDK's products and nothing else of Martlet, with a real server between them.
@Suite(
    .enabled(if: RunningPager.isBuilt, "there is no .build/pager: run `Scripts/check-examples` once"),
    .timeLimit(.minutes(10)))
struct PagerTests {
    /// A picture of one pixel.
    private static let picture =
        Data(
            base64Encoded: """
                iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
                """) ?? Data()

    @Test(
        "An app of the SDK alone is sent texts, pictures, secrets and what only it can read",
        arguments: ["apns", "wns"])
    func anAppOfTheSDKAloneIsSentEverything(platform: String) async throws {
        let server = try await RunningServer.start(["--simulator", "--simulator-listen", "127.0.0.1:0"])
        try await prepare(server.dataDirectory)
        func start(_ user: String, _ platform: String) throws -> RunningPager {
            let simulator = server.readyLine.split(separator: " ").first { $0.hasPrefix("simulator=") }
            return try RunningPager.start(
                user, server: try #require(server.address("http")),
                simulator: String(try #require(simulator).dropFirst("simulator=".count)),
                authority: server.dataDirectory.appendingPathComponent("simulator-ca.pem"), platform: platform)
        }
        let alice = try start("alice", platform)
        let bob = try start("bob", "apns")
        #expect(await alice.nextLine() == "alice's pager is registered")
        #expect(await bob.nextLine() == "bob's pager is registered")

        try alice.type("text bob Is there tea?")
        #expect(await bob.nextLine() == "alice: Is there tea?")

        let file = bob.folder.appendingPathComponent("tea.png")
        try Self.picture.write(to: file)
        try bob.type("rich alice \(file.path) Look at this")
        let line = try #require(await alice.nextLine())
        #expect(line.hasPrefix("Look at this [image/png in \(alice.folder.path)/"))
        let saved = try #require(line.split(separator: " ").last).dropLast()
        #expect(try Data(contentsOf: URL(fileURLWithPath: String(saved))) == Self.picture)

        try bob.type("secure alice The tea is gone")
        #expect(await alice.nextLine() == "secret: The tea is gone")
        try bob.type("encrypt alice So am I")
        #expect(await alice.nextLine() == "encrypted: So am I")

        #expect(try await alice.quit() == 0)
        #expect(try await bob.quit() == 0)
        #expect(await server.stop() == 0)
    }

    /// A hub, and two users with the passwords `password of USER`.
    private func prepare(_ data: URL) async throws {
        let script = """
            "$0" hub create demo --data "$1" && for user in alice bob; do
                echo "password of $user" | "$0" user add $user --password-stdin --data "$1" || exit
            done
            """
        let done = try await Finished.running(
            URL(fileURLWithPath: "/bin/bash"), ["-c", script, BuiltProducts.martlet.path, data.path])
        #expect(done.status == 0, "\(done.output)")
    }
}
