import Foundation
import MartletServer
import Testing

@testable import martlet

/// A command that asks a server which does not answer.
struct ServerWatchTests {
    /// A socket in a data directory whose server does what a test says.
    private final class Server: Sendable {
        let directory = FileManager.default.temporaryDirectory.path + "/m\(UInt32.random(in: 0...UInt32.max))"
        private let listening: Int32

        init() throws {
            listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(directory)/admin.sock".utf8) }
            let isBound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    mkdir(directory, 0o700) == 0
                        && bind(listening, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
            try #require(isBound && listen(listening, 16) == 0)
        }

        deinit {
            close(listening)
            try? FileManager.default.removeItem(atPath: directory)
        }

        /// Leaves the first request alone until so many others were answered, which find nothing.
        func answerFirst(after count: Int) {
            let first = accept(listening, nil, nil)
            for _ in 0..<count { Self.answer(accept(listening, nil, nil), "404 Not Found", "") }
            Self.answer(first, "200 OK", "[]")
        }

        private static func answer(_ connection: Int32, _ status: String, _ body: String) {
            var buffer = [UInt8](repeating: 0, count: 4096)
            _ = read(connection, &buffer, buffer.count)
            let head = "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n"
            let bytes = Array((head + body).utf8)
            _ = write(connection, bytes, bytes.count)
            close(connection)
        }
    }

    private func administration(
        of server: Server, patience: Duration = .milliseconds(20), limit: Duration
    ) -> Administration {
        var administration = Administration(offline: server.directory)
        administration.watch = ServerWatch(patience: patience, limit: limit)
        return administration
    }

    @Test(.timeLimit(.minutes(1))) func aStoppedServerIsGivenUpWithASentenceThatSaysWhatToDo() async throws {
        // As of a process that is stopped: the kernel takes connections, and nobody reads.
        let server = try Server()
        let administration = administration(of: server, limit: .milliseconds(20))
        let error = await #expect(throws: ServerError.self) { try await administration.text("/metrics") }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains("has answered nothing"))
        #expect(text.contains("repeat the command"))
        // What may take an hour as long as the server works is given up as soon.
        await #expect(throws: ServerError.self) {
            _ = try await administration.receive("/rest/hub/registrations") { _ in true }
        }
    }

    @Test(.timeLimit(.minutes(1))) func aServerThatWorksOnItsAnswerIsWaitedFor() async throws {
        let server = try Server()
        Thread.detachNewThread { server.answerFirst(after: 3) }
        #expect(try await administration(of: server, limit: .seconds(20)).text("/metrics") == "[]")
    }
}
