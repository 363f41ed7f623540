import Foundation
import Testing

/// Rich notifications over real connections, by curl, against a real server and its data directory.
@Suite(.timeLimit(.minutes(10)))
struct RichUploadTests {
    private let folder: URL
    private let file: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        file = folder.appendingPathComponent("large")
        var generator = SystemRandomNumberGenerator()
        var bytes = Data(capacity: 4_000_000)
        while bytes.count < 4_000_000 { withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) } }
        try bytes.write(to: file)
    }

    private func serve(_ options: String...) async throws -> RunningServer {
        let server = try await RunningServer.start(
            ["--simulator", "--simulator-listen", "127.0.0.1:0"] + options)
        let martlet = "\"$0\" \"$@\" --data \"$DATA\""
        for words in [
            ["-c", martlet, BuiltProducts.martlet.path, "hub", "create", "demo"],
            [
                "-c", "echo alice-1 | " + martlet, BuiltProducts.martlet.path, "user", "add", "alice",
                "--password-stdin",
            ],
            ["-c", "echo bob-1 | " + martlet, BuiltProducts.martlet.path, "user", "add", "bob", "--password-stdin"],
        ] {
            let done = try await Finished.running(
                URL(fileURLWithPath: "/bin/sh"), words, environment: ["DATA": server.dataDirectory.path])
            #expect(done.status == 0, "\(done.output)")
        }
        return server
    }

    private func curl(_ server: RunningServer, _ path: String, _ options: String...) async throws -> Finished {
        let base = try #require(server.address("http"))
        let url = base.absoluteString + "/api/notifications/" + path
        return try await Finished.running(
            URL(fileURLWithPath: "/usr/bin/curl"), ["--silent", "--show-error"] + options + [url])
    }

    /// The files of payloads in the data directory, whole or not.
    private func files(_ server: RunningServer) throws -> [String] {
        let root = server.dataDirectory.appendingPathComponent("payloads")
        let all = FileManager.default.enumerator(at: root, includingPropertiesForKeys: [.isRegularFileKey])
        return try (all?.compactMap { $0 as? URL } ?? []).filter {
            try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
        }.map(\.lastPathComponent)
    }

    @Test(arguments: ["--http1.1", "--http2-prior-knowledge"])
    func aFileGoesUpAndComesDownTheSame(version: String) async throws {
        let server = try await serve()
        let sent = try await curl(
            server, "rich", version, "--user", "bob:bob-1", "--form", "to=alice", "--form", "file=@\(file.path)")
        let id = sent.output.filter(\.isNumber)
        #expect(sent.output == "{\"id\":\(id)}")
        let copy = folder.appendingPathComponent("copy")
        _ = try await curl(server, id, version, "--user", "alice:alice-1", "--output", copy.path)
        #expect(try Data(contentsOf: copy) == Data(contentsOf: file))
        let part = folder.appendingPathComponent("part")
        _ = try await curl(
            server, id, version, "--user", "alice:alice-1", "--range", "3999990-", "--output", part.path)
        #expect(try Data(contentsOf: part) == Data(contentsOf: file).suffix(10))
        let strangers = try await curl(server, id, version, "--user", "bob:bob-1", "--write-out", "%{http_code}")
        #expect(strangers.output.hasSuffix("404"))
        #expect(try files(server).count == 1)
        #expect(await server.stop() == 0)
        try FileManager.default.removeItem(at: folder)
    }

    @Test func refusedAndInterruptedUploadsLeaveNothing() async throws {
        let server = try await serve("--payload-limit", "3M", "--payload-quota", "5M")
        let large = try await curl(
            server, "rich", "--user", "bob:bob-1", "--form", "file=@\(file.path)", "--write-out", "%{http_code}")
        #expect(large.output.hasSuffix("413"))
        // The connection is closed in the middle: the body promises more than comes.
        let cut = try await Finished.running(
            URL(fileURLWithPath: "/bin/bash"),
            [
                "-c",
                """
                exec 3<>"/dev/tcp/$HOST/$PORT"
                printf 'POST /api/notifications/rich HTTP/1.1\\r\\nHost: a\\r\\nAuthorization: Basic %s\\r\\n' \
                    "$(printf bob:bob-1 | base64)" >&3
                printf 'Content-Type: multipart/form-data; boundary=x\\r\\nContent-Length: 2000000\\r\\n\\r\\n' >&3
                printf -- '--x\\r\\nContent-Disposition: form-data; name=file\\r\\n\\r\\n' >&3
                head --bytes 1000000 "$FILE" >&3
                exec 3>&-
                """,
            ],
            environment: [
                "HOST": try #require(server.address("http")?.host),
                "PORT": String(try #require(server.address("http")?.port)), "FILE": file.path,
            ])
        #expect(cut.status == 0)
        let small = folder.appendingPathComponent("small")
        try Data("small".utf8).write(to: small)
        let sent = try await curl(server, "rich", "--user", "bob:bob-1", "--form", "file=@\(small.path)")
        #expect(sent.output.hasPrefix("{\"id\":"))
        #expect(try await settled { try files(server).count == 1 })
        #expect(await server.stop() == 0)
        try FileManager.default.removeItem(at: folder)
    }

    /// Asks until it is so, for as long as the suite has time.
    private func settled(_ condition: () throws -> Bool) async throws -> Bool {
        while try !condition() { try await Task.sleep(for: .milliseconds(20)) }
        return true
    }
}
