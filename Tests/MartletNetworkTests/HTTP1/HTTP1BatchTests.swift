import MartletHTTP
import MartletTesting
import Testing

@testable import MartletNetwork

/// Batches over HTTP/1.1, whose requests and plain successes take a way of their own.
@Suite struct HTTP1BatchTests {
    private let connection = FakeConnection()
    private let owner = FakeOwner()
    private let client: HTTP1Client

    init() {
        client = HTTP1Client(connection, owner: owner, limits: ClientLimits())
    }

    private static func batch(_ chance: inout SeededGenerator) -> RequestBatch {
        var fields = HTTPFields()
        for number in 0..<chance.below(5) { fields.append(HTTPField("x-\(number)", chance.text(upTo: 50))) }
        if chance.below(3) == 0 { fields.append(HTTPField("host", "elsewhere")) }
        if chance.below(8) == 0 { fields.append(HTTPField("x-bad", "a\r\nb")) }
        let names = (0..<chance.below(4)).map { chance.one(of: ["x-item-\($0)", "content-length"]) }
        let shared = chance.below(2) == 0 ? chance.bytes(upTo: 100) : nil
        var batch = RequestBatch(
            RequestBatch.Shared(
                origin: HTTPOrigin(scheme: .https, host: chance.one(of: ["push.example", "::1"]), port: 8443),
                method: chance.one(of: [.post, .put, .get]), pathPrefix: chance.one(of: ["/", "", "/a/", "/a b"]),
                fields: fields, itemFieldNames: names, body: shared))
        for _ in 0..<5 {
            let path = chance.one(of: ["", chance.text(upTo: 80), "a\r\nb", "\u{E9}", "a?b=%2f"])
            batch.append(
                path: path.utf8,
                values: names.map { _ in Array(chance.one(of: [chance.text(upTo: 40), "", "a\nb", "\u{E9}"]).utf8) },
                body: shared == nil ? chance.bytes(upTo: 60) : nil)
        }
        return batch
    }

    @Test(arguments: 0..<200) func anItemIsWrittenAsASingleRequestIs(_ seed: Int) {
        var chance = SeededGenerator(seed: UInt64(seed))
        let batch = Self.batch(&chance)
        let encoder = HTTP1BatchEncoder(batch.shared)
        for item in 0..<batch.count {
            let request = batch.request(item)
            let authority = batch.shared.origin.authority
            var (written, expected): ([UInt8], [UInt8]) = ([1], [1])
            let isWritable = HTTP1RequestEncoder.isWritable(request, authority: authority)
            #expect(encoder.append(item, of: batch, to: &written) == isWritable)
            if isWritable { HTTP1RequestEncoder.append(request, authority: authority, to: &expected) }
            #expect(String(decoding: written, as: UTF8.self) == String(decoding: expected, as: UTF8.self))
        }
    }

    /// An answer as a server might write it, most often well.
    private static func answer(_ chance: inout SeededGenerator) -> [UInt8] {
        let body = chance.one(of: ["", "", #"{"id":"abc"}"#, #"{"id":"other"}"#, "text"])
        var head = chance.one(of: [
            "HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK", "HTTP/1.1 200 ", "HTTP/1.1 200", "HTTP/1.0 200 OK",
            "HTTP/1.1 404 Not Found", "HTTP/1.1 200 \u{E9}", "HTTP/1.1  200 OK", "http/1.1 200 OK", "HTTP/1.1 2000 OK",
        ])
        var lines = (0..<chance.below(4)).map { _ in
            chance.one(of: [
                "X-Status: received", "x-status:RECEIVED", "X-STATUS: \t received \t", "x-status: dropped",
                "Date: Tue, 14 Nov 2023 22:15:20 GMT", "x-other: a b", "x-empty:", "Connection: close",
                "connection: keep-alive", "Upgrade: h2c", "Transfer-Encoding: chunked", "Keep-Alive: timeout=5",
                "proxy-connection: close", "x bad: 1", "x-bad : 1", " folded", "x-bad: \u{1}", ": none",
                "x-long: \(String(repeating: "a", count: 5_000))", "x-h\u{E9}: 1",
            ])
        }
        let length = chance.one(of: [
            "Content-Length: \(body.utf8.count)", "content-length:\(body.utf8.count)",
            "CONTENT-LENGTH: \(body.utf8.count)",
            "Content-Length: \(body.utf8.count) ", "Content-Length: \(body.utf8.count)\t", "Content-Length: +1",
            "Content-Length: \(body.utf8.count + 1)", "Content-Length: 00\(body.utf8.count)", "x-none: 1",
        ])
        lines.insert(length, at: chance.below(lines.count + 1))
        if chance.below(20) == 0 { lines.append(length) }
        for line in lines { head += chance.below(50) == 0 ? "\n\(line)" : "\r\n\(line)" }
        return Array((head + "\r\n\r\n" + body + chance.one(of: ["", "", "", "", "x", "HTTP/1.1 200 OK\r\n"])).utf8)
    }

    /// What became of the items of a batch, and of the connection.
    private struct Course: Equatable {
        var entries: [Int: BatchLedger.Entry] = [:]
        var requests: [[UInt8]] = []
        var isFinished = false
        var answerCount = 0
    }

    private static func course(_ seed: Int, _ answers: [[UInt8]], inOne: Bool) -> Course {
        var chance = SeededGenerator(seed: UInt64(seed))
        let plain = chance.one(of: [
            PlainSuccess.empty, .none, .json(member: "id"), .jsonOfPath(member: "id", pathSuffix: "/m"),
            .field(name: "x-status", value: "received"), .field(name: "x-status", value: "received"),
        ])
        var batch = RequestBatch(
            RequestBatch.Shared(origin: testOrigin, pathPrefix: "/", body: [1, 2], plainSuccess: plain))
        for _ in answers { batch.append(path: "abc/m".utf8) }
        let (connection, owner, ledger) = (FakeConnection(), FakeOwner(), BatchLedger())
        let client = HTTP1Client(connection, owner: owner, limits: ClientLimits())
        let run = ledger.run(batch, from: connection.now, before: connection.now + .seconds(9))
        client.draw(from: run)
        var course = Course()
        for answer in answers where !client.isFinished {
            let request: [UInt8] = client.written()
            course.requests.append(request)
            // A head of which one byte comes first takes the normal path. Bytes that end an earlier answer are not cut.
            let first = inOne || request.isEmpty ? answer.count : 1
            client.receive(Array(answer.prefix(first)))
            if first < answer.count { client.receive(Array(answer.dropFirst(first))) }
        }
        course.requests.append(client.written())
        client.ended()
        course.isFinished = client.isFinished
        course.answerCount = client.answerCount
        course.entries = ledger.entries
        #expect(ledger.doubles == 0)
        return course
    }

    @Test(arguments: 0..<400) func anAnswerInOneReadSaysWhatItSaysInTwo(_ seed: Int) {
        var chance = SeededGenerator(seed: UInt64(seed) + 1_000)
        let answers = (0..<6).map { _ in Self.answer(&chance) }
        #expect(Self.course(seed, answers, inOne: true) == Self.course(seed, answers, inOne: false))
    }

    private func batch(_ count: Int) -> RequestBatch {
        var batch = RequestBatch(
            RequestBatch.Shared(
                origin: testOrigin, pathPrefix: "/", body: [1],
                plainSuccess: .field(name: "x-status", value: "received")))
        for item in 0..<count { batch.append(path: "\(item)".utf8) }
        return batch
    }

    @Test func theOwnerHearsOfTheLastAnswerAlone() {
        let ledger = BatchLedger()
        client.draw(from: ledger.run(batch(10), from: connection.now, before: connection.now + .seconds(9)))
        for item in 0..<10 {
            #expect(owner.changes == 0)
            #expect(String(decoding: client.written() as [UInt8], as: UTF8.self).hasPrefix("POST /\(item) "))
            client.receive(Array("HTTP/1.1 200 OK\r\nX-Status: Received\r\nContent-Length: 0\r\n\r\n".utf8))
        }
        #expect(owner.changes == 1)
        let _: [UInt8] = client.written()
        #expect(ledger.entries == Dictionary(uniqueKeysWithValues: (0..<10).map { ($0, .success) }))
        #expect(client.isIdle)
    }

    @Test func aSingleRequestThatWaitsGoesBeforeTheNextItem() {
        owner.hasSingleRequests = true
        client.draw(
            from: BatchLedger().run(batch(10), from: connection.now, before: connection.now + .seconds(9)))
        let _: [UInt8] = client.written()
        owner.work = { [client, owner] in
            guard client.capacity > 0, owner.hasSingleRequests else { return }
            owner.hasSingleRequests = false
            _ = client.start(HTTPRequest(.get, "/single"), to: testOrigin, receiver: FakeReceiver())
        }
        client.receive(Array("HTTP/1.1 200 OK\r\nX-Status: Received\r\nContent-Length: 0\r\n\r\n".utf8))
        #expect(String(decoding: client.written() as [UInt8], as: UTF8.self).hasPrefix("GET /single "))
        owner.work = {}
    }
}
