import MartletHTTP
import Testing

@testable import MartletNetwork

/// What a server of HTTP/1.1 sends to make work for its client ends the connection.
@Suite struct HTTP1ClientFloodTests {
    private let connection = FakeConnection()
    private let owner = FakeOwner()
    private let client: HTTP1Client

    init() {
        client = HTTP1Client(connection, owner: owner, limits: ClientLimits())
    }

    private func start(bodyLimit: Int? = 64 * 1024) -> FakeReceiver {
        let receiver = FakeReceiver(bodyLimit: bodyLimit)
        _ = client.start(HTTPRequest(.post, "/x"), to: testOrigin, receiver: receiver)
        let _: [UInt8] = client.written()
        return receiver
    }

    private func receive(_ text: String) {
        client.receive(Array(text.utf8))
    }

    private static let chunked = "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"

    @Test(arguments: [
        ("", "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n", 17),
        (chunked, "1\r\na\r\n", 2_100),
        (chunked, "3e8\r\n" + String(repeating: "a", count: 1_000) + "\r\n", 66),
        ("HTTP/1.1 400 Bad\r\nContent-Length: 99999999999\r\n\r\n", String(repeating: "[", count: 1_000), 66),
        ("HTTP/1.1 200 OK\r\n\r\n", String(repeating: "[", count: 1_000), 66),
    ])
    func endsTheConnection(_ head: String, _ piece: String, _ most: Int) {
        let receiver = start()
        receive(head)
        var sent = 0
        while client.wantsInput, sent < 10_000 {
            receive(piece)
            sent += 1
        }
        #expect(sent <= most)
        #expect(client.isFinished)
        #expect(client.hasMisbehaved)
        #expect(receiver.error?.kind == .misbehaved)
        #expect(receiver.error?.mayHaveBeenProcessed == true)
        #expect(receiver.body.count <= 64 * 1024)
    }

    @Test(arguments: ["0", "1;a=", "1\r\na\r\n000000000000000000000000000000000000000000000000"])
    func theLineOfAChunkHasALimit(_ beginning: String) {
        let receiver = start()
        receive(Self.chunked + beginning)
        var sent = 0
        while client.wantsInput, sent < 100 {
            receive(String(repeating: "0", count: 1_000))
            sent += 1
        }
        #expect(sent <= 5)
        #expect(receiver.error?.kind == .disconnected)
    }

    @Test func manyTinyChunksInOneReadAreCounted() {
        let receiver = start()
        receive(Self.chunked + String(repeating: "1\r\na\r\n", count: 10_000))
        #expect(receiver.error?.kind == .misbehaved)
    }

    @Test func aLongAnswerIsReadWhereTheRequestAllowsIt() {
        let receiver = start(bodyLimit: 1 << 20)
        let body = String(repeating: "a", count: 10_000)
        receive(Self.chunked)
        for _ in 0..<100 { receive("2710\r\n\(body)\r\n") }
        receive("0\r\n\r\n")
        #expect(receiver.isFinished)
        #expect(receiver.body.count == 1_000_000)
        #expect(client.capacity == 1)
    }

    @Test func aStreamMayBeCutAsFinelyAsItsServerLikes() {
        let receiver = start(bodyLimit: nil)
        receive(Self.chunked)
        for _ in 0..<5_000 { receive("1\r\na\r\n") }
        #expect(receiver.body.count == 5_000)
        #expect(client.wantsInput)
    }

    @Test func aFewInformationalAnswersAreRead() {
        for _ in 0..<20 {
            let receiver = start()
            for _ in 0..<16 { receive("HTTP/1.1 103 Early Hints\r\n\r\n") }
            receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            #expect(receiver.isFinished)
        }
    }
}
