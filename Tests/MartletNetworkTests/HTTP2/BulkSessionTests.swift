import MartletHTTP
import Testing

@testable import MartletNetwork

/// What both client protocols do alike.
@Suite struct BulkSessionTests {
    @Test(arguments: Cut.allCases, BulkPair.Kind.allCases)
    func aBatchIsDeliveredAndToldWholeHoweverItsBytesAreCut(_ cut: Cut, _ kind: BulkPair.Kind) throws {
        let pair = BulkPair(kind)
        pair.draw(notifications(250))
        pair.run(cut: cut)
        #expect(pair.ledger.entries == Dictionary(uniqueKeysWithValues: (0..<250).map { ($0, .success) }))
        #expect(pair.ledger.doubles == 0)
        let targets = Set(pair.dispatch.requests.map(\.target))
        #expect(targets == Set((0..<250).map { "/3/device/token\($0)" }))
        let request = try #require(pair.dispatch.requests.last)
        #expect(request.method == .post)
        #expect(request.authority == "push.example")
        #expect(request.body == Array(#"{"aps":{"alert":"hi"}}"#.utf8))
        #expect(request.fields["apns-topic"] == "com.example.app")
    }

    @Test(arguments: BulkPair.Kind.allCases) func onlyCommonFieldsEnterTheHeaderTable(_ kind: BulkPair.Kind) {
        let pair = BulkPair(kind)
        pair.draw(notifications(3))
        pair.run()
        for request in pair.dispatch.requests {
            #expect(request.targetIndexing == .never)
            for field in request.fields where field.name != "content-length" {
                let isOwn = field.name == "authorization" || field.name == "apns-id"
                #expect(field.indexing == (isOwn ? .never : .allowed), "\(field.name)")
            }
        }
    }

    @Test(arguments: BulkPair.Kind.allCases) func theStreamLimitIsFollowedUpAndDown(_ kind: BulkPair.Kind) {
        var settings = HTTP2Settings()
        settings.streamLimit = 1
        var waiting: [any ResponseStream] = []
        let dispatch = FakeDispatch { _, stream in waiting.append(stream) }
        let pair = BulkPair(kind, settings: settings, dispatch: dispatch)
        func answerAll() {
            let open = waiting
            waiting = []
            for stream in open { stream.send(HTTPResponse(.ok)) }
            pair.run()
        }
        pair.draw(notifications(1_200))
        pair.run()
        #expect(waiting.count == 1)
        pair.control.announce(streamLimit: 1_000)
        pair.run()
        #expect(waiting.count == 1_000)
        pair.control.announce(streamLimit: 1)
        answerAll()
        #expect(waiting.count == 1)
        pair.control.announce(streamLimit: 0)
        answerAll()
        #expect(waiting.isEmpty)
        pair.control.announce(streamLimit: 1_000)
        pair.run()
        answerAll()
        #expect(pair.ledger.entries.count == 1_200)
        #expect(pair.ledger.doubles == 0)
        #expect(pair.server.isFinished == false)
    }

    @Test(arguments: BulkPair.Kind.allCases)
    func requestsAfterTheLastStreamOfAGoAwayAreReturnedAndTheOthersAnswered(_ kind: BulkPair.Kind) {
        var waiting: [any ResponseStream] = []
        let pair = BulkPair(kind, dispatch: FakeDispatch { _, stream in waiting.append(stream) })
        let run = pair.draw(notifications(10))
        pair.run()
        #expect(waiting.count == 10)
        // Streams are numbered 1, 3, 5 and so on: four of them are kept.
        pair.control.goAway(last: 7, debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
        pair.run()
        #expect(!pair.client.isOpen)
        #expect(pair.owner.changes > 0)
        #expect(run.waiting == 6)
        for stream in waiting.prefix(4) { stream.send(HTTPResponse(.ok)) }
        pair.run()
        #expect(pair.ledger.entries.count == 4)
        #expect(pair.client.isFinished)
    }

    @Test(arguments: [true, false])
    func aServerThatSaidGoodbyeEndsBehindItsLastAnswerOrStays(finishes: Bool) {
        var waiting: [any ResponseStream] = []
        let pair = BulkPair(dispatch: FakeDispatch { _, stream in waiting.append(stream) })
        pair.draw(notifications(2))
        pair.run()
        pair.control.goAway(finishes: finishes)
        pair.run()
        #expect(!pair.server.isFinished)
        for stream in waiting { stream.send(HTTPResponse(.ok)) }
        pair.run()
        #expect(pair.ledger.entries.count == 2)
        #expect(pair.server.isFinished == finishes)
    }

    @Test(arguments: BulkPair.Kind.allCases) func aSmallerWindowHoldsBodiesBack(_ kind: BulkPair.Kind) {
        let pair = BulkPair(kind)
        pair.control.announce(streamWindow: 4)
        pair.control.withholdWindows(true)
        pair.client.receive(pair.server.written())
        pair.draw(notifications(1))
        pair.run()
        #expect(pair.dispatch.requests.isEmpty)
        pair.control.announce(streamWindow: 65_535)
        pair.control.withholdWindows(false)
        pair.run()
        #expect(pair.dispatch.requests.count == 1)
        #expect(pair.ledger.entries.count == 1)
    }

    @Test(arguments: BulkPair.Kind.allCases) func twoGoAwaysInARowAreTwoCuts(_ kind: BulkPair.Kind) {
        let pair = BulkPair(kind, dispatch: FakeDispatch { _, _ in })
        let run = pair.draw(notifications(10))
        pair.run()
        pair.control.goAway(last: 9)
        pair.run()
        #expect(run.waiting == 5)
        pair.control.goAway(last: 3)
        pair.run()
        #expect(run.waiting == 8)
        pair.client.ended()
        #expect(pair.ledger.entries.count == 2)
        #expect(pair.ledger.doubles == 0)
    }

    /// A connection whose peer ends it with GOAWAY when it has the requests, after it has answered some of them.
    private func endConnection(drawnBy run: BatchRun, answering count: Int) {
        var waiting: [any ResponseStream] = []
        let pair = BulkPair(dispatch: FakeDispatch { _, stream in waiting.append(stream) })
        pair.client.draw(from: run)
        pair.run()
        for stream in waiting.prefix(count) { stream.send(HTTPResponse(.ok)) }
        pair.run()
        pair.control.goAway(last: Int32(max(0, 2 * count - 1)))
        pair.run()
        run.flush()
    }

    @Test func aRequestThatEndsTwoConnectionsInARowFailsAndIsNotTakenForAPeerThatCannotBeReached() {
        let ledger = BatchLedger()
        let run = ledger.run(notifications(1), from: .now, before: .now + .seconds(30))
        endConnection(drawnBy: run, answering: 0)
        #expect(run.waiting == 1, "it is sent again")
        endConnection(drawnBy: run, answering: 0)
        #expect(run.isComplete)
        guard case .failure(let error) = ledger.entries[0] else {
            Issue.record("it fails")
            return
        }
        #expect(error.kind == .disconnected && !error.mayHaveBeenProcessed)
    }

    @Test func requestsThatSharedConnectionsWithAnsweredOnesAreSentAgain() {
        let ledger = BatchLedger()
        let run = ledger.run(notifications(5), from: .now, before: .now + .seconds(30))
        for left in [4, 3, 2, 1] {
            endConnection(drawnBy: run, answering: 1)
            #expect(run.waiting == left)
        }
        #expect(ledger.entries.values.allSatisfy { $0 == .success })
    }

    @Test func aRequestThatEndedAConnectionIsDrawnAfterTheOthers() {
        let run = BatchLedger().run(notifications(3), from: .now, before: .now + .seconds(30))
        let first = run.next() ?? -1
        let error = TransportError(.disconnected, mayHaveBeenProcessed: false, "GOAWAY")
        run.giveBack(first, hasAnswered: false, error, from: 1)
        #expect(run.waiting == 3)
        #expect([run.next(), run.next(), run.next(), run.next()] == [1, 2, 0, nil])
    }

    @Test(arguments: BulkPair.Kind.allCases) func aGoAwayBeforeTheFirstRequestLosesNothing(_ kind: BulkPair.Kind) {
        let pair = BulkPair(kind)
        pair.control.goAway(last: 0)
        pair.client.receive(pair.server.written())
        let run = pair.draw(notifications(3))
        pair.run()
        #expect(run.waiting == 3)
        #expect(pair.dispatch.requests.isEmpty)
        #expect(pair.client.isFinished)
    }

    @Test(arguments: BulkPair.Kind.allCases) func aRefusedRequestIsSentAgainAndAResetOneIsNot(_ kind: BulkPair.Kind) {
        var seen: [String: Int] = [:]
        let pair = BulkPair(kind)
        pair.dispatch.answer = { request, stream in
            let time = seen[request.target, default: 0]
            seen[request.target] = time + 1
            switch request.target {
            case "/3/device/token2" where time == 0: pair.control.reset(request.streamID, code: .refusedStream)
            case "/3/device/token3": pair.control.reset(request.streamID, code: .internalError)
            default: break
            }
            stream.send(HTTPResponse(.ok))
        }
        pair.draw(notifications(6))
        pair.run()
        #expect(seen["/3/device/token2"] == 2)
        #expect(seen["/3/device/token3"] == 1)
        let reset = TransportError(
            .reset, mayHaveBeenProcessed: true, "the peer reset the request with code 2")
        #expect(pair.ledger.entries[2] == .success)
        #expect(pair.ledger.entries[3] == .failure(reset))
        #expect(pair.ledger.entries.count == 6)
    }

    @Test(arguments: BulkPair.Kind.allCases) func aPeerThatRefusesEverythingIsLeftAloneForAWhile(_ kind: BulkPair.Kind)
    {
        let pair = BulkPair(kind)
        pair.dispatch.answer = { request, _ in pair.control.reset(request.streamID, code: .refusedStream) }
        pair.draw(notifications(2))
        pair.run()
        let first = pair.dispatch.requests.count
        #expect(first < 10)
        #expect(pair.client.capacity == 0)
        pair.pass(.milliseconds(100))
        pair.run()
        #expect(pair.dispatch.requests.count > first)
        #expect(pair.ledger.entries.isEmpty)
    }

    @Test(arguments: BulkPair.Kind.allCases) func requestsWithoutAnAnswerInTimeAreReportedAndGivenUp(
        _ kind: BulkPair.Kind
    ) {
        let pair = BulkPair(kind, dispatch: FakeDispatch { _, _ in })
        pair.draw(notifications(2), within: .seconds(5))
        pair.run()
        pair.pass(.seconds(5))
        pair.run()
        let error = TransportError(.timedOut, mayHaveBeenProcessed: true, "no answer came in time")
        #expect(pair.ledger.entries == [0: .failure(error), 1: .failure(error)])
        #expect(pair.dispatch.running.map(\.cancellations) == [1, 1])
        #expect(pair.client.capacity == 100)
    }

    @Test(arguments: BulkPair.Kind.allCases)
    func requestsWrittenShortlyBeforeTheDeadlineHaveTheFullTimeForTheirAnswer(_ kind: BulkPair.Kind) {
        var settings = HTTP2Settings()
        settings.streamLimit = 1
        let pair = BulkPair(kind, settings: settings, dispatch: FakeDispatch { _, _ in })
        let run = pair.draw(notifications(3), within: .seconds(8))
        pair.run()
        pair.pass(.seconds(6))
        pair.dispatch.running[0].stream.send(HTTPResponse(.ok))
        pair.run()
        #expect(pair.dispatch.running.count == 2)
        pair.pass(.seconds(2))
        run.runOut()
        pair.run()
        let unsent = TransportError(.timedOut, mayHaveBeenProcessed: false, "there was no connection in time")
        #expect(pair.ledger.entries == [0: .success, 2: .failure(unsent)])
        pair.pass(.seconds(5))
        pair.run()
        #expect(pair.ledger.entries.count == 2)
        pair.pass(.milliseconds(999))
        pair.run()
        #expect(pair.ledger.entries.count == 2)
        #expect(pair.client.deadline.map { $0 <= pair.clientConnection.now + .milliseconds(250) } ?? false)
        pair.pass(.milliseconds(250))
        pair.run()
        let error = TransportError(.timedOut, mayHaveBeenProcessed: true, "no answer came in time")
        #expect(pair.ledger.entries == [0: .success, 1: .failure(error), 2: .failure(unsent)])
        #expect(pair.dispatch.running.map(\.cancellations) == [0, 1])
        #expect(pair.ledger.doubles == 0)
    }

    @Test(arguments: BulkPair.Kind.allCases)
    func anAnswerBehindTheDeadlineCountsAndWhatIsRefusedThenIsNotSentAgain(_ kind: BulkPair.Kind) {
        var settings = HTTP2Settings()
        settings.streamLimit = 2
        let pair = BulkPair(kind, settings: settings, dispatch: FakeDispatch { _, _ in })
        let run = pair.draw(notifications(4), within: .seconds(8))
        pair.run()
        pair.pass(.seconds(6))
        for running in pair.dispatch.running { running.stream.send(HTTPResponse(.ok)) }
        pair.run()
        pair.pass(.seconds(2))
        run.runOut()
        #expect(pair.ledger.entries == [0: .success, 1: .success])
        pair.dispatch.running[2].stream.send(HTTPResponse(.ok))
        pair.control.reset(pair.dispatch.requests[3].streamID, code: .refusedStream)
        pair.run()
        let unsent = TransportError(.timedOut, mayHaveBeenProcessed: false, "there was no connection in time")
        #expect(pair.ledger.entries == [0: .success, 1: .success, 2: .success, 3: .failure(unsent)])
        #expect(pair.dispatch.requests.count == 4)
    }

    @Test(arguments: BulkPair.Kind.allCases) func aSilentPeerIsFoundOutByPing(_ kind: BulkPair.Kind) {
        let pair = BulkPair(kind)
        pair.run()
        pair.control.goSilent()
        pair.draw(notifications(1))
        pair.run()
        pair.pass(.seconds(10))
        pair.run()
        #expect(!pair.client.isFinished)
        pair.pass(.seconds(10))
        #expect(pair.client.isFinished)
        let error = TransportError(
            .disconnected, mayHaveBeenProcessed: true, "the peer is silent and does not answer a PING")
        #expect(pair.ledger.entries == [0: .failure(error)])
    }

    @Test(arguments: BulkPair.Kind.allCases) func withheldWindowsStopBodiesAndHoldNothingElseUp(_ kind: BulkPair.Kind) {
        var settings = HTTP2Settings()
        settings.connectionWindow = 65_535
        let pair = BulkPair(kind, settings: settings)
        pair.control.withholdWindows(true)
        pair.draw(notifications(100, body: [UInt8](repeating: 1, count: 4_000)))
        pair.run()
        #expect(pair.ledger.entries.count == 16)
        pair.control.withholdWindows(false)
        pair.run()
        #expect(pair.ledger.entries.count == 100)
    }

    @Test(arguments: BulkPair.Kind.allCases) func aBrokenPeerEndsTheConnectionAndFailsWhatWaits(_ kind: BulkPair.Kind) {
        let pair = BulkPair(kind, dispatch: FakeDispatch { _, _ in })
        pair.draw(notifications(2))
        pair.run()
        pair.client.receive([0, 0, 5, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5])
        _ = pair.client.written()
        #expect(pair.client.isFinished)
        pair.client.ended()
        #expect(pair.ledger.entries.count == 2)
        #expect(pair.ledger.doubles == 0)
    }

    @Test(arguments: BulkPair.Kind.allCases) func successesAreToldInFullWhereTheBatchAsksForIt(_ kind: BulkPair.Kind) {
        let pair = BulkPair(
            kind,
            dispatch: FakeDispatch { request, stream in
                stream.send(HTTPResponse(.ok, fields: ["x-path": request.target]))
            })
        var batch = RequestBatch(
            RequestBatch.Shared(origin: testOrigin, pathPrefix: "/", body: [], plainSuccess: .none))
        for item in 0..<5 { batch.append(path: "\(item)".utf8) }
        pair.draw(batch)
        pair.draw(notifications(2))
        pair.run()
        let answers = pair.ledger.entries.values.filter { $0 != .success }
        // The second batch has the indices 0 and 1 too.
        #expect(answers.count + pair.ledger.doubles == 5)
        #expect(
            pair.ledger.entries[4] == .answer(status: 200, fields: ["x-path: /4", "content-length: 0"], body: []))
    }

    /// Answers of all kinds to a batch whose successes have a body.
    private func named(_ count: Int) -> (batch: RequestBatch, dispatch: FakeDispatch) {
        var batch = RequestBatch(
            RequestBatch.Shared(origin: testOrigin, pathPrefix: "/", body: [1], plainSuccess: .json(member: "name")))
        for item in 0..<count { batch.append(path: "\(item)".utf8) }
        let dispatch = FakeDispatch { request, stream in
            let answers: [(HTTPStatus, String)] = [
                (.ok, #"{"name":"projects/p/messages/1"}"#), (.ok, "{\n  \"name\": \"m\"\n}\n"), (.ok, ""), (.ok, "{}"),
                (.badRequest, #"{"name":"no"}"#), (.ok, #"{"name":"m"}"#), (.ok, #"{"name":"m"}"#),
            ]
            let (status, body) = answers[(Int(request.target.dropFirst()) ?? 0) % answers.count]
            stream.send(HTTPResponse(status, body: .bytes(Array(body.utf8))))
        }
        return (batch, dispatch)
    }

    @Test(arguments: Cut.allCases, BulkPair.Kind.allCases)
    func aSuccessWithABodyIsPlainWhereItIsTheOneThatWasExpected(_ cut: Cut, _ kind: BulkPair.Kind) {
        let (batch, dispatch) = named(700)
        let pair = BulkPair(kind, dispatch: dispatch)
        pair.draw(batch)
        pair.run(cut: cut)
        #expect(pair.ledger.doubles == 0)
        let entries = pair.ledger.entries
        #expect(entries.count == 700)
        for (item, entry) in entries {
            switch item % 7 {
            case 0, 1, 5, 6: #expect(entry == .success)
            case 2: #expect(entry == .answer(status: 200, fields: ["content-length: 0"], body: []))
            case 3: #expect(entry == .answer(status: 200, fields: ["content-length: 2"], body: Array("{}".utf8)))
            default:
                let body = Array(#"{"name":"no"}"#.utf8)
                #expect(entry == .answer(status: 400, fields: ["content-length: 13"], body: body))
            }
        }
    }

    @Test(arguments: Cut.allCases, BulkPair.Kind.allCases)
    func anAnswerThatRepeatsTheIDOfItsRequestIsPlain(_ cut: Cut, _ kind: BulkPair.Kind) {
        var batch = RequestBatch(
            RequestBatch.Shared(
                origin: testOrigin, pathPrefix: "/", body: [1],
                plainSuccess: .jsonOfPath(member: "id", pathSuffix: "/messages")))
        for item in 0..<300 { batch.append(path: "\(item)%2B/messages".utf8) }
        let dispatch = FakeDispatch { request, stream in
            let item = Int(request.target.dropFirst().prefix { $0 != "%" }) ?? 0
            let body = #"{"id":"\#(item % 3 == 0 ? item + 1 : item)+"}"#
            stream.send(HTTPResponse(.ok, body: .bytes(Array(body.utf8))))
        }
        let pair = BulkPair(kind, dispatch: dispatch)
        pair.draw(batch)
        pair.run(cut: cut)
        #expect(pair.ledger.doubles == 0)
        for (item, entry) in pair.ledger.entries where item % 3 != 0 { #expect(entry == .success) }
        for (item, entry) in pair.ledger.entries where item % 3 == 0 {
            guard case .answer(200, _, let body) = entry else {
                Issue.record("an answer with another id is told in full")
                continue
            }
            #expect(body == Array(#"{"id":"\#(item + 1)+"}"#.utf8))
        }
        #expect(pair.ledger.entries.count == 300)
    }

    @Test(arguments: BulkPair.Kind.allCases) func theBodiesOfPlainSuccessesDoNotUseUpTheWindow(_ kind: BulkPair.Kind) {
        let body = Array(#"{"name":"\#(String(repeating: "m", count: 4_000))"}"#.utf8)
        let pair = BulkPair(kind, dispatch: FakeDispatch { $1.send(HTTPResponse(.ok, body: .bytes(body))) })
        var batch = RequestBatch(
            RequestBatch.Shared(origin: testOrigin, pathPrefix: "/", body: [1], plainSuccess: .json(member: "name")))
        let count = 4 * BulkSession.connectionWindow / body.count
        for item in 0..<count { batch.append(path: "\(item)".utf8) }
        pair.draw(batch)
        pair.run()
        #expect(pair.ledger.entries == Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, .success) }))
    }

    @Test(arguments: BulkPair.Kind.allCases) func whatWouldNotBeOneRequestIsNotSent(_ kind: BulkPair.Kind) {
        let pair = BulkPair(kind)
        pair.run()
        var batch = RequestBatch(
            RequestBatch.Shared(origin: testOrigin, pathPrefix: "/", itemFieldNames: ["x"], body: [1]))
        for path in ["a", "a b", "a\r\nb", "\u{E9}"] { batch.append(path: path.utf8, values: [Array("v".utf8)]) }
        for value in ["v\t\u{E9}", "a\nb", "a\rb", "a\0b", "\u{7F}"] {
            batch.append(path: "a".utf8, values: [Array(value.utf8)])
        }
        pair.draw(batch)
        pair.run()
        #expect(pair.dispatch.requests.count == 2)
        #expect(pair.ledger.entries.values.filter { $0 == .failure(.unwritable) }.count == 7)
        var unwritable = batch.shared
        unwritable.fields = ["y": "a\r\nb"]
        var other = RequestBatch(unwritable)
        for item in 0..<3 { other.append(path: "\(item + 100)".utf8, values: [[]]) }
        let run = pair.draw(other)
        pair.run()
        #expect(run.isComplete)
        #expect(pair.dispatch.requests.count == 2)
    }

    @Test(arguments: BulkPair.Kind.allCases) func singleRequestsGoBesideABatch(_ kind: BulkPair.Kind) {
        let pair = BulkPair(
            kind,
            dispatch: FakeDispatch { request, stream in
                stream.send(HTTPResponse(request.method == .get ? 404 : .ok, body: .bytes(request.body)))
            })
        pair.run()
        pair.draw(notifications(50, body: []))
        let receiver = FakeReceiver()
        let body = [UInt8](repeating: 9, count: 200_000)
        _ = pair.client.start(HTTPRequest(.put, "/x", body: body), to: testOrigin, receiver: receiver)
        let other = FakeReceiver()
        _ = pair.client.start(HTTPRequest(.get, "/y"), to: testOrigin, receiver: other)
        pair.run()
        #expect(receiver.isFinished)
        #expect(receiver.body == body)
        #expect(other.head?.status == 404)
        #expect(pair.ledger.entries.count == 50)
    }
}
