import MartletHTTP
import Testing

@testable import MartletNetwork

@Suite struct HTTP2ExchangeTests {
    @Test(arguments: Cut.allCases) func aRequestIsAnsweredHoweverItsBytesAreCut(_ cut: Cut) throws {
        let pair = SessionPair(
            dispatch: FakeDispatch { request, stream in
                stream.send(HTTPResponse(.created, fields: ["x-echo": request.target], body: .bytes(request.body)))
            })
        pair.run(cut: cut)
        let body = [UInt8](repeating: 42, count: 3_000)
        let answer = pair.start(HTTPRequest(.post, "/a/b?c=d", fields: ["x-one": "1"], body: body))
        pair.run(cut: cut)
        let request = try #require(pair.dispatch.requests.first)
        #expect(request.method == .post)
        #expect(request.target == "/a/b?c=d")
        #expect(request.authority == "push.example")
        #expect(request.fields["x-one"] == "1")
        #expect(request.fields["content-length"] == "3000")
        #expect(request.body == body)
        #expect(request.streamID == 1)
        #expect(request.connection?.id == 7)
        #expect(answer.head?.status == .created)
        #expect(answer.head?.fields["x-echo"] == "/a/b?c=d")
        #expect(answer.head?.fields["content-length"] == "3000")
        #expect(answer.body == body)
        #expect(answer.isFinished)
    }

    @Test func anAnswerToHEADStatesTheLengthAndSendsNoBody() {
        let pair = SessionPair(
            dispatch: FakeDispatch { _, stream in stream.send(HTTPResponse(.ok, body: .bytes([1, 2, 3]))) })
        let answer = pair.start(HTTPRequest(.head, "/"))
        pair.run()
        #expect(answer.head?.fields["content-length"] == "3")
        #expect(answer.body.isEmpty)
        #expect(answer.isFinished)
    }

    @Test func anAnswerWithoutContentHasNoLength() {
        let pair = SessionPair(dispatch: FakeDispatch { _, stream in stream.send(HTTPResponse(.noContent)) })
        let answer = pair.start(HTTPRequest(.get, "/"))
        pair.run()
        #expect(answer.head?.status == .noContent)
        #expect(answer.head?.fields["content-length"] == nil)
    }

    @Test func aLargeBodyPassesThroughSmallWindowsBothWays() {
        var small = HTTP2Settings()
        small.streamWindow = 1_000
        small.connectionWindow = 65_535
        let pair = SessionPair(
            server: small, client: small,
            dispatch: FakeDispatch { request, stream in stream.send(HTTPResponse(.ok, body: .bytes(request.body))) })
        let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let answer = pair.start(HTTPRequest(.put, "/big", body: body))
        pair.run(cut: .pieces)
        #expect(answer.isFinished)
        #expect(answer.body == body)
    }

    @Test func aTargetAndAnAuthorizationNeverEnterTheHeaderTable() {
        let pair = SessionPair()
        for _ in 0..<3 {
            pair.run()
            pair.start(HTTPRequest(.post, "/3/device/abc", fields: ["authorization": "bearer t", "x-topic": "app"]))
        }
        pair.run()
        #expect(pair.dispatch.requests.count == 3)
        for request in pair.dispatch.requests {
            let fields = Dictionary(uniqueKeysWithValues: request.fields.map { ($0.name, $0.indexing) })
            #expect(fields == ["authorization": .never, "x-topic": .allowed])
            #expect(request.targetIndexing == .never)
        }
    }

    @Test func aStreamedBodyWaitsForRoomAndArrivesWhole() throws {
        var limits = ServerLimits()
        limits.streamBufferBytes = 1_000
        let pair = SessionPair(
            limits: limits, dispatch: FakeDispatch { _, stream in stream.sendHead(HTTPResponse(.ok)) })
        let answer = pair.start(HTTPRequest(.get, "/events"))
        pair.run()
        let running = try #require(pair.dispatch.running.first)
        #expect(answer.head?.status == .ok)
        #expect(!answer.isFinished)
        #expect(running.stream.sendBody(Array("one ".utf8)))
        pair.run()
        #expect(answer.body == Array("one ".utf8))
        #expect(!running.stream.sendBody([UInt8](repeating: 7, count: 2_000)))
        #expect(running.rooms == 0)
        pair.run()
        #expect(running.rooms == 1)
        running.stream.finish()
        pair.run()
        #expect(answer.isFinished)
        #expect(answer.body.count == 2_004)
    }

    @Test func aStreamedBodyThatFailsIsSeenToFail() throws {
        let pair = SessionPair(dispatch: FakeDispatch { _, stream in stream.sendHead(HTTPResponse(.ok)) })
        let answer = pair.start(HTTPRequest(.get, "/file"))
        pair.run()
        let running = try #require(pair.dispatch.running.first)
        running.stream.cut()
        pair.run()
        #expect(answer.error?.kind == .reset)
        #expect(!running.stream.sendBody([1]))
    }

    @Test func aRequestThatIsGivenUpIsCancelledAtTheServer() throws {
        let pair = SessionPair(dispatch: FakeDispatch { _, _ in })
        pair.run()
        let answer = FakeReceiver()
        let id = pair.client.start(HTTPRequest(.get, "/slow"), to: testOrigin, receiver: answer)
        pair.run()
        pair.client.cancel(id, isLate: false)
        pair.run()
        #expect(pair.dispatch.running.first?.cancellations == 1)
        #expect(!answer.isFinished && answer.error == nil)
        #expect(pair.client.capacity == 100)
    }

    @Test func aRequestCancelledBeforeItWasSentLeavesNoTrace() {
        let pair = SessionPair()
        pair.run()
        let id = pair.client.start(HTTPRequest(.get, "/"), to: testOrigin, receiver: FakeReceiver())
        pair.client.cancel(id, isLate: false)
        pair.run()
        #expect(pair.dispatch.requests.isEmpty)
        #expect(pair.client.capacity == 100)
    }

    @Test func aRequestThatCannotBeWrittenIsRefusedHere() {
        let pair = SessionPair()
        let answer = pair.start(HTTPRequest(.get, "/", fields: ["x-bad": "a\r\nb"]))
        #expect(answer.error?.kind == .invalidRequest)
        #expect(answer.error?.mayHaveBeenProcessed == false)
    }
}
