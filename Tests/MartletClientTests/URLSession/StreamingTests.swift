import Foundation
import MartletURLSession
import Synchronization
import Testing

@testable import MartletClient

/// Bodies that are never in memory as a whole, over the loopback.
struct StreamingTests {
    /// Records what comes.
    final class Sink: ResponseSink {
        let bytes = Mutex<[UInt8]>([])
        let head = Mutex<ClientResponse?>(nil)
        let limit: Int
        let isWanted: Bool

        init(limit: Int = .max, isWanted: Bool = true) {
            self.limit = limit
            self.isWanted = isWanted
        }

        func begin(_ head: ClientResponse) -> Bool {
            self.head.withLock { $0 = head }
            return isWanted
        }

        func receive(_ piece: UnsafeRawBufferPointer) -> Bool {
            bytes.withLock { bytes in
                bytes.append(contentsOf: piece)
                return bytes.count < limit
            }
        }
    }

    func response(_ body: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nETag: \"v\"\r\nConnection: close\r\n\r\n\(body)"
    }

    @Test func anAnswerGoesToItsSinkInPiecesWithoutTheLimitOfOthers() async throws {
        let body = String(repeating: "0123456789abcdef", count: 200_000)
        let server = try LoopbackServer { [answer = response(body)] _ in answer }
        defer { server.stop() }
        let sink = Sink()
        let answer = try await URLSessionTransport().send(
            ClientRequest("GET", "http://127.0.0.1:\(server.port)/"), to: sink)
        #expect(answer.status == 200)
        #expect(answer.body.isEmpty)
        #expect(sink.head.withLock { $0?.fields["etag"] } == "\"v\"")
        #expect(sink.bytes.withLock { $0 == Array(body.utf8) })
    }

    @Test func anAnswerThatNoSinkWantsComesAsUsual() async throws {
        let server = try LoopbackServer { [answer = response("refused")] _ in answer }
        defer { server.stop() }
        let sink = Sink(isWanted: false)
        let answer = try await URLSessionTransport().send(
            ClientRequest("GET", "http://127.0.0.1:\(server.port)/"), to: sink)
        #expect(answer.body == Array("refused".utf8))
        #expect(sink.bytes.withLock { $0.isEmpty })
    }

    @Test func aSinkThatHasEnoughEndsTheRequest() async throws {
        let body = String(repeating: "0123456789abcdef", count: 1_000_000)
        let server = try LoopbackServer { [answer = response(body)] _ in answer }
        defer { server.stop() }
        let sink = Sink(limit: 10)
        let address = "http://127.0.0.1:\(server.port)/"
        let error = await #expect(throws: ClientTransportError.self) {
            try await URLSessionTransport().send(ClientRequest("GET", address), to: sink)
        }
        #expect(error?.kind == .cancelled)
        #expect(sink.bytes.withLock { $0.count } < body.utf8.count)
    }

    @Test func aLongBodyArrivesWhole() async throws {
        let server = try LoopbackServer { [answer = response("{}")] _ in answer }
        defer { server.stop() }
        let piece = Array("0123456789abcdef".utf8)
        let upload = ClientUpload(length: 1_000_000) { offset, count in
            (0..<count).map { piece[(Int(offset) + $0) % piece.count] }
        }
        let answer = try await URLSessionTransport().send(
            ClientRequest("POST", "http://127.0.0.1:\(server.port)/", fields: ["content-type": "x/y"], upload: upload))
        #expect(answer.status == 200)
        let request = try #require(server.requests.first)
        #expect(request.lowercased().contains("content-length: 1000000\r\n"))
        #expect(request.lowercased().contains("content-type: x/y\r\n"))
        #expect(request.hasSuffix(String(repeating: "0123456789abcdef", count: 62_500)))
    }

    @Test func aBodyThatCannotBeReadIsToldAndNotSent() async throws {
        struct Gone: Error {}
        let upload = ClientUpload(length: 10) { _, _ in throw Gone() }
        let error = await #expect(throws: ClientTransportError.self) {
            try await URLSessionTransport().send(ClientRequest("POST", "http://127.0.0.1:9/", upload: upload))
        }
        #expect(error?.kind == .unreadable)
        #expect(error?.mayHaveBeenProcessed == false)
    }
}
