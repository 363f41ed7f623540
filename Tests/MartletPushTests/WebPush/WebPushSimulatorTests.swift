import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct WebPushSimulatorTests {
    private func refusal(
        _ flavour: WebPushFlavour, _ spoil: (inout WebPushFixture, PushHandle) throws -> HTTPRequest
    ) throws -> HTTPResponse {
        var fixture = try WebPushFixture()
        let handle = try fixture.subscribe(flavour)
        let request = try spoil(&fixture, handle)
        return fixture.simulator.answer(request, at: WebPushFixture.now).response
    }

    /// The checks of PushServices.md, section 10.6, by the number of the row.
    private func spoiled(_ row: String, _ fixture: inout WebPushFixture, _ handle: PushHandle) throws -> HTTPRequest {
        let key = try fixture.key()
        let now = WebPushFixture.now
        func proof(_ text: String?) throws -> HTTPRequest { try fixture.request(["authorization": text], to: handle) }
        switch row {
        case "method": return try fixture.request(to: handle, .put)
        case "endpoint": return try fixture.request(to: handle, marker: "x")
        case "no proof": return try proof(nil)
        case "other scheme": return try proof("WebPush abc")
        case "no key":
            let whole = try WebPushFixture.proof(key: key)
            return try proof(whole.split(separator: ",").first.map(String.init))
        case "bad key": return try proof(WebPushFixture.proof(key: key, named: [4, 1, 2]))
        case "bad signature":
            return try proof(WebPushFixture.proof(key: P256PrivateKey.generate(), named: key.publicKey.rawPoint))
        case "other audience":
            return try proof(
                WebPushFixture.proof(audience: HTTPOrigin(scheme: .https, host: "localhost"), key: key))
        case "expired": return try proof(WebPushFixture.proof(at: now + .seconds(-43_200), key: key))
        case "too far ahead": return try proof(WebPushFixture.proof(at: now + .seconds(43_201), key: key))
        case "bad subject": return try proof(WebPushFixture.proof(subject: "mailto:<a@b.example>", key: key))
        case "other key": return try proof(WebPushFixture.proof(key: P256PrivateKey.generate()))
        case "no ttl": return try fixture.request(["ttl": nil], to: handle)
        case "bad ttl": return try fixture.request(["ttl": "-1"], to: handle)
        case "topic": return try fixture.request(["topic": "a b"], to: handle)
        case "encoding": return try fixture.request(["content-encoding": "aesgcm"], to: handle)
        case "old fields": return try fixture.request(["crypto-key": "dh=x"], to: handle)
        case "no header": return try fixture.request(to: handle, body: [1, 2, 3])
        case "size":
            var body = try fixture.request(to: handle).body
            body += [UInt8](repeating: 0, count: 4097 - body.count)
            return try fixture.request(to: handle, body: body)
        case "gone":
            _ = fixture.simulator.devices.remove(fixture.simulator.text(of: handle), at: now)
            return try fixture.request(to: handle)
        default:
            Issue.record("no such row")
            return try fixture.request(to: handle)
        }
    }

    @Test(arguments: [
        ("method", 405, 0), ("endpoint", 404, 102), ("no proof", 401, 109), ("other scheme", 401, 109),
        ("no key", 401, 109), ("bad key", 401, 109), ("bad signature", 401, 109), ("other audience", 401, 109),
        ("expired", 401, 109), ("too far ahead", 401, 109), ("bad subject", 401, 109), ("other key", 401, 109),
        ("no ttl", 400, 111), ("bad ttl", 400, 114), ("topic", 400, 113), ("encoding", 400, 110),
        ("old fields", 400, 110), ("no header", 400, 110), ("size", 413, 104), ("gone", 410, 106),
    ])
    func mozillasServiceNamesEachRowByANumber(row: String, status: Int, errno: Int64) throws {
        let response = try refusal(.mozilla) { try spoiled(row, &$0, $1) }
        #expect(response.status.code == status)
        #expect(try JSON(parsing: response.bytes)["errno"]?.integer == errno)
    }

    @Test(arguments: [
        ("endpoint", 400, "BadWebPushRequest"), ("no proof", 403, "BadJwtToken"), ("bad key", 403, "BadVapidPublicKey"),
        ("other audience", 403, "BadJwtToken"), ("other key", 403, "VapidPkHashMismatch"), ("no ttl", 400, "BadTtl"),
        ("bad ttl", 400, "BadTtl"), ("topic", 400, "BadWebPushTopic"), ("encoding", 400, "BadWebPushRequest"),
        ("size", 413, "PayloadTooLarge"), ("gone", 410, "Unregistered"),
    ])
    func safarisServiceNamesEachRowByAWord(row: String, status: Int, reason: String) throws {
        let response = try refusal(.safari) { try spoiled(row, &$0, $1) }
        #expect(response.status.code == status)
        #expect(try JSON(parsing: response.bytes)["reason"]?.string == reason)
    }

    @Test(arguments: [
        ("endpoint", 404), ("no proof", 403), ("other key", 403), ("no ttl", 400), ("size", 413), ("gone", 410),
    ])
    func chromiumsServiceAnswersInText(row: String, status: Int) throws {
        let response = try refusal(.chromium) { try spoiled(row, &$0, $1) }
        #expect(response.status.code == status)
        #expect(response.fields["content-type"] == "text/plain" && !response.bytes.isEmpty)
    }

    @Test func urgencyIsASubjectOfSafarisServiceAlone() throws {
        for (flavour, status) in [(WebPushFlavour.mozilla, 201), (.safari, 400), (.chromium, 201)] {
            let response = try refusal(flavour) { try $0.request(["urgency": "now"], to: $1) }
            #expect(response.status.code == status)
        }
    }

    @Test func formAndSpacesOfTheProofAreFree() throws {
        let response = try refusal(.mozilla) { fixture, handle in
            let proof = try #require(VAPIDProof(fixture.request(to: handle).fields["authorization"] ?? ""))
            return try fixture.request(["authorization": "Vapid k=\(proof.key) ,  t=\(proof.token)"], to: handle)
        }
        #expect(response.status == .created)
    }

    @Test func aMessageMayBeEmpty() throws {
        let response = try refusal(.mozilla) { try $0.request(["content-encoding": nil], to: $1, body: []) }
        #expect(response.status == .created)
    }

    @Test func undecryptableMessagesAreAcceptedAndCounted() throws {
        var fixture = try WebPushFixture()
        let (first, second) = (try fixture.subscribe(), try fixture.subscribe())
        let request = try fixture.request(to: first, body: fixture.request(to: second).body)
        #expect(fixture.simulator.answer(request, at: WebPushFixture.now).response.status == .created)
        #expect(fixture.simulator.counters["undecryptable"] == 1)
    }

    @Test func aTopicReplacesWhatWaitsAndOtherMessagesDoNot() throws {
        var fixture = try WebPushFixture()
        let handle = try fixture.subscribe()
        let text = fixture.simulator.text(of: handle)
        for (body, topic) in [("1", "ab"), ("2", nil), ("3", "cd"), ("4", "ab"), ("5", nil)] {
            let message = WebPushFixture.message(body, topic.map { ["topic": $0] } ?? [:])
            let request = try #require(fixture.requests(message, to: [handle]).first)
            _ = fixture.simulator.answer(request, at: WebPushFixture.now)
        }
        let gone = WebPushFixture.message("6", ["ttl": "0"])
        _ = fixture.simulator.answer(
            try #require(fixture.requests(gone, to: [handle]).first), at: WebPushFixture.now)
        let waiting = fixture.simulator.devices.startListening(text, at: WebPushFixture.now + .seconds(1))
        #expect(waiting?.map(\.payload) == [2, 3, 4, 5])
    }

    @Test func endpointsAskForFaultsAtTheirEnd() throws {
        var fixture = try WebPushFixture()
        let handle = try fixture.subscribe()
        for (text, marker) in [("~unregistered", HandleMarker.unregistered), ("~throttle2", .throttle(2))] {
            let request = try fixture.request(to: handle, marker: text)
            let subject = fixture.simulator.subject(of: request)
            #expect(
                subject
                    == SimulatedSubject(
                        .send, app: "mozilla", handle: fixture.simulator.text(of: handle), marker: marker))
            #expect(fixture.simulator.answer(request, at: WebPushFixture.now).response.status == .created)
        }
        let unknown = try fixture.request(to: handle, marker: "~nothing")
        #expect(fixture.simulator.answer(unknown, at: WebPushFixture.now).response.status == .notFound)
    }

    @Test(arguments: [
        (ServiceFault.Name.rateLimit, WebPushFlavour.mozilla, 429), (.rateLimit, .edge, 406),
        (.deviceRateLimit, .safari, 429), (.internalError, .chromium, 500), (.unavailable, .mozilla, 503),
        (.unregistered, .mozilla, 410), (.unknownHandle, .mozilla, 404), (.wrongSender, .safari, 403),
        (.expiredToken, .mozilla, 401), (.credentialRefused, .chromium, 403), (.unknownReason, .mozilla, 418),
    ])
    func everyFaultHasTheServicesWords(name: ServiceFault.Name, flavour: WebPushFlavour, status: Int) throws {
        #expect(WebPushSimulator.faults.contains(name))
        var fixture = try WebPushFixture()
        let handle = try fixture.subscribe(flavour)
        let text = fixture.simulator.text(of: handle)
        let request = try fixture.request(to: handle)
        let fault = ServiceFault(name, retryAfter: .seconds(7))
        let response = fixture.simulator.answer(request, fault: fault, at: WebPushFixture.now).response
        #expect(response.status.code == status)
        #expect(response.fields["retry-after"] == "7")
        #expect(fixture.simulator.devices[text]?.accepted == 0)
        let delivered = ServiceFault(name, isDelivered: true)
        let other = fixture.simulator.answer(request, fault: delivered, at: WebPushFixture.now).response
        #expect(other.status.code == status)
        #expect(other.fields["retry-after"] == nil)
        #expect(fixture.simulator.devices[text]?.accepted == 1)
    }

    @Test func tooManyWithinASecondAreTooMany() throws {
        var fixture = try WebPushFixture { $0.pushesPerSecond = 1 }
        let handle = try fixture.subscribe()
        let request = try fixture.request(to: handle)
        let statuses = [Duration.zero, .zero, .seconds(1)]
            .map { fixture.simulator.answer(request, at: WebPushFixture.now + $0).response.status.code }
        #expect(statuses == [201, 429, 201])
    }

    @Test func whereAnybodysKeyIsTakenAnotherHubMaySend() throws {
        var fixture = try WebPushFixture { $0.acceptsAnyKey = true }
        let handle = try fixture.subscribe()
        let proof = try WebPushFixture.proof(key: P256PrivateKey.generate())
        let request = try fixture.request(["authorization": proof], to: handle)
        #expect(fixture.simulator.answer(request, at: WebPushFixture.now).response.status == .created)
    }
}
