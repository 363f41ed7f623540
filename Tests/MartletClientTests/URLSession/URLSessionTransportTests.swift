import Foundation
import Testing

@testable import MartletClient
@testable import MartletURLSession

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

struct URLSessionTransportTests {
    func response(_ status: String, _ body: String = "", fields: String = "") -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\(fields)\r\n\(body)"
    }

    @Test func aRequestArrivesWholeAndItsAnswerComesBack() async throws {
        let server = try LoopbackServer { [answer = response("201 Created", "{}", fields: "Retry-After: 7\r\n")] _ in
            answer
        }
        defer { server.stop() }
        let answer = try await URLSessionTransport().send(
            ClientRequest(
                "PUT", "http://127.0.0.1:\(server.port)/api/register/1?x=%2F", fields: ["authorization": "Bearer T"],
                body: Array("\"h\u{e9}\"".utf8)))
        #expect(answer.status == 201)
        #expect(answer.fields["retry-after"] == "7")
        #expect(answer.body == Array("{}".utf8))
        let request = try #require(server.requests.first)
        #expect(request.hasPrefix("PUT /api/register/1?x=%2F HTTP/1.1\r\n"))
        #expect(request.lowercased().contains("authorization: bearer t\r\n"))
        #expect(request.hasSuffix("\"h\u{e9}\""))
    }

    @Test func aTimeoutOfLessThanASecondLeavesTimeForAnAnswer() async throws {
        let server = try LoopbackServer { [answer = response("200 OK", "{}")] _ in answer }
        defer { server.stop() }
        let answer = try await URLSessionTransport(timeout: .milliseconds(900)).send(
            ClientRequest("GET", "http://127.0.0.1:\(server.port)/"))
        #expect(answer.status == 200)
    }

    @Test func aStreamHasNoLimitForTheWholeRequest() {
        let streaming = ExchangeSession.configuration(wait: .milliseconds(1500), whole: nil)
        let year = 365 * 86_400.0
        #expect(streaming.timeoutIntervalForRequest >= 1.5)
        #expect(streaming.timeoutIntervalForResource > year)
        let plain = ExchangeSession.configuration(wait: .seconds(30), whole: .seconds(30))
        #expect(plain.timeoutIntervalForResource == 30)
    }

    @Test func aRefusalIsAnAnswer() async throws {
        let challenges =
            "WWW-Authenticate: Basic realm=\"martlet\", charset=\"UTF-8\"\r\n"
            + "WWW-Authenticate: Bearer realm=\"martlet\"\r\n"
        let refusal = response("401 Unauthorized", "{}", fields: challenges)
        let server = try LoopbackServer { _ in refusal }
        defer { server.stop() }
        let answer = try await URLSessionTransport().send(
            ClientRequest("POST", "http://127.0.0.1:\(server.port)/", fields: ["authorization": "Bearer T"]))
        #expect(answer.status == 401)
        #expect(server.requests.count == 1)
    }

    @Test func aRedirectIsNotFollowed() async throws {
        let other = try LoopbackServer { [answer = response("200 OK")] _ in answer }
        defer { other.stop() }
        let redirect = response("307 Temporary Redirect", fields: "Location: http://127.0.0.1:\(other.port)/\r\n")
        let server = try LoopbackServer { _ in redirect }
        defer { server.stop() }
        let answer = try await URLSessionTransport().send(
            ClientRequest("GET", "http://127.0.0.1:\(server.port)/", fields: ["authorization": "Bearer T"]))
        #expect(answer.status == 307)
        #expect(other.requests.isEmpty)
    }

    @Test func aMissingServerIsUnreachableAndNothingWasProcessed() async throws {
        // Of the port of a server just stopped another one may begin to listen.
        let error = await #expect(throws: ClientTransportError.self) {
            try await URLSessionTransport().send(ClientRequest("GET", "http://127.0.0.1:1/?handle=SECRET"))
        }
        #expect(error?.kind == .unreachable)
        #expect(error?.mayHaveBeenProcessed == false)
        #expect(error?.description.contains("SECRET") == false)
    }

    @Test func aCertificateThatIsNotTrustedIsToldAsSuch() {
        for sentence in [
            "SSL certificate problem: self-signed certificate",
            "SSL: no alternative certificate subject name matches target host name 'a.example'",
        ] {
            let error = ClientTransportError(URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: sentence]))
            #expect(error.kind == .insecure)
            #expect(!error.mayHaveBeenProcessed)
        }
        #expect(ClientTransportError(URLError(.unknown)).kind == .unreachable)
    }

    @Test func aConnectionThatBreaksMayHaveBeenProcessed() async throws {
        let server = try LoopbackServer { _ in nil }
        defer { server.stop() }
        let error = await #expect(throws: ClientTransportError.self) {
            try await URLSessionTransport().send(ClientRequest("POST", "http://127.0.0.1:\(server.port)/", body: [1]))
        }
        #expect(error?.kind == .unreachable)
        #expect(error?.mayHaveBeenProcessed == true)
    }

    @Test func anEndlessAnswerIsCutOff() async throws {
        let long = response("200 OK", String(repeating: "x", count: 2 << 20))
        let server = try LoopbackServer { _ in long }
        defer { server.stop() }
        await #expect(throws: ClientTransportError.self) {
            try await URLSessionTransport().send(ClientRequest("GET", "http://127.0.0.1:\(server.port)/"))
        }
    }

    @Test func aCancelledTaskEndsItsRequest() async throws {
        let (started, signal) = AsyncStream.makeStream(of: Void.self)
        let held = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { _ in
            signal.yield()
            held.wait()
            return nil
        }
        defer {
            held.signal()
            server.stop()
        }
        let address = "http://127.0.0.1:\(server.port)/"
        let task = Task { try await URLSessionTransport().send(ClientRequest("GET", address)) }
        for await _ in started { break }
        task.cancel()
        let error = await #expect(throws: ClientTransportError.self) { try await task.value }
        #expect(error?.kind == .cancelled)
    }

    @Test func aClientSpeaksOverIt() async throws {
        let server = try LoopbackServer {
            [
                session = response("201 Created", #"{"token":"T"}"#), id = response("200 OK", #""12-34-1""#),
                ok = response("200 OK")
            ] request in
            if request.hasPrefix("POST /api/sessions ") { return session }
            return request.hasPrefix("POST /api/register?") ? id : ok
        }
        defer { server.stop() }
        let ids = KeptID()
        let client = PushClient(
            server: try ServerAddress("http://127.0.0.1:\(server.port)"), transport: URLSessionTransport(),
            stores: ClientStores(registration: ids.store))
        try await client.logIn(user: "alice", password: "secret")
        try await client.register(deviceToken: Data([0xAB, 0x01]), platform: "apns", tags: ["news"])
        #expect(await ids.load() == "12-34-1")
        let last = try #require(server.requests.last)
        #expect(last.hasPrefix("PUT /api/register/12-34-1 HTTP/1.1\r\n"))
        #expect(last.hasSuffix(#"{"Handle":"AB01","Platform":"apns","Tags":["news"]}"#))
    }

    @Test func userDefaultsKeepAValue() async {
        let suite = "MartletClientTests.\(UInt64.random(in: 0...UInt64.max))"
        let store = UserDefaultsStore(suite: suite, key: "it")
        #expect(await store.load() == nil)
        await store.save([1, 0, 255])
        #expect(await UserDefaultsStore(suite: suite, key: "it").load() == [1, 0, 255])
        #expect(await UserDefaultsStore(suite: suite, key: "other").load() == nil)
        await store.save(nil)
        #expect(await store.load() == nil)
        UserDefaults().removePersistentDomain(forName: suite)
    }
}
