import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct WNSSimulatorTests {
    private static let now = WNSFixture.now

    /// The checks of PushServices.md, section 10.4, by what is wrong.
    private func answer(_ wrong: String) throws -> HTTPResponse {
        var fixture = try WNSFixture()
        let handle = try fixture.channel()
        var request = try fixture.request(to: handle)
        switch wrong {
        case "method": request.method = .get
        case "no token": request.fields["authorization"] = nil
        case "unknown token": request.fields["authorization"] = "Bearer other"
        case "expired token":
            return fixture.simulator.answer(request, at: Self.now + .seconds(86_400)).response
        case "unknown channel": request.target += "x"
        case "other app":
            try fixture.simulator.register(app: ["clientId": "other", "secret": "s"])
            let other = try fixture.simulator.addDevice(["app": "other"])
            request = try fixture.request(to: PushHandle(other))
        case "expired channel": _ = fixture.simulator.devices.remove(handle.text, at: Self.now)
        case "blocked app": fixture.simulator.blocked = [WNSSimulator.exampleClient]
        case "no length": request.fields["content-length"] = nil
        case "no type": request.fields["x-wns-type"] = nil
        case "other content": request.fields["content-type"] = "application/octet-stream"
        case "long tag": request.fields["x-wns-tag"] = String(repeating: "t", count: 17)
        case "bad ttl": request.fields["x-wns-ttl"] = "soon"
        case "bad policy": request.fields["x-wns-cache-policy"] = "perhaps"
        case "phones only": request.fields["x-wns-suppresspopup"] = "true"
        case "too large": request.body = Array(repeating: 0x20, count: 5001)
        default: Issue.record("no such row")
        }
        return fixture.simulator.answer(request, at: Self.now).response
    }

    @Test(arguments: [
        ("method", 405), ("no token", 401), ("unknown token", 401), ("expired token", 401), ("unknown channel", 404),
        ("other app", 403), ("expired channel", 410), ("blocked app", 410), ("no length", 400), ("no type", 400),
        ("other content", 400), ("long tag", 400), ("bad ttl", 400), ("bad policy", 400), ("phones only", 400),
        ("too large", 413),
    ])
    func eachRowHasItsAnswer(wrong: String, status: Int) throws {
        let response = try answer(wrong)
        #expect(response.status.code == status)
        #expect(response.fields["x-wns-status"] == nil)
        if [400, 410].contains(status) { #expect(response.fields["x-wns-error-description"]?.isEmpty == false) }
    }

    @Test func theTokenEndpointsAnswerEachMistakeInItsWord() throws {
        var fixture = try WNSFixture()
        let secret = try #require(fixture.credential.properties["SecretKey"])
        let right = [
            "grant_type": "client_credentials", "client_id": WNSSimulator.exampleClient, "client_secret": secret,
            "scope": "notify.windows.com s.notify.live.net",
        ]
        func answer(_ changes: [String: String], _ path: String = "/accesstoken.srf") throws -> JSON {
            let form = right.merging(changes) { $1 }.map { "\($0)=\(PercentEncoding.encode($1))" }
            let request = HTTPRequest(.post, path, body: Array(form.joined(separator: "&").utf8))
            return try JSON(parsing: fixture.simulator.answer(request, at: Self.now).response.bytes)
        }
        #expect(try answer([:])["expires_in"] == 86_400)
        #expect(try answer(["grant_type": "password"])["error"] == "invalid_request")
        #expect(try answer(["client_id": "nobody"])["error"] == "invalid_client")
        #expect(try answer(["client_secret": "wrong"])["error"] == "invalid_client")
        #expect(try answer(["scope": "mail"])["error"] == "invalid_scope")
        let directory = "/aa-bb/oauth2/v2.0/token"
        #expect(try answer([:], directory)["error"] == "invalid_scope")
        #expect(try answer(["scope": "https://wns.windows.com/.default"], directory)["expires_in"] == "86400")
    }

    @Test(arguments: [
        (ServiceFault.Name.rateLimit, 406), (.deviceRateLimit, 200), (.internalError, 500), (.unavailable, 503),
        (.unregistered, 410), (.unknownHandle, 404), (.wrongSender, 403), (.expiredToken, 401), (.dropped, 200),
        ("DomainBlocked", 410), ("DeviceUnreachable", 412), ("BadRequest", 400), ("PayloadTooLarge", 413),
        ("MethodNotAllowed", 405),
        (.unknownReason, 418),
    ])
    func aFaultIsWordedAsTheServiceWordsIt(name: ServiceFault.Name, status: Int) throws {
        var fixture = try WNSFixture()
        #expect(WNSSimulator.faults.contains(name))
        let handle = try fixture.channel()
        let request = try fixture.request(to: handle)
        let fault = ServiceFault(name, retryAfter: .seconds(3))
        let answer = fixture.simulator.answer(request, fault: fault, at: Self.now)
        #expect(answer.response.status.code == status)
        #expect(answer.response.fields["retry-after"] == "3")
        #expect(fixture.service.outcome(of: answer.response, at: Self.now) != .accepted)
        #expect(fixture.simulator.devices[handle.text]?.inbox.isEmpty == true)
    }

    @Test func theTokenEndpointHasFaultsOfItsOwn() throws {
        var fixture = try WNSFixture()
        guard case .exchange(let exchange) = fixture.service.authorization(at: Self.now) else { return }
        #expect(fixture.simulator.subject(of: exchange.request).endpoint == .token)
        func answer(_ name: ServiceFault.Name) -> TokenAnswer {
            let fault = ServiceFault(name, retryAfter: .seconds(3))
            return fixture.service.token(
                from: fixture.simulator.answer(exchange.request, fault: fault, at: Self.now).response, at: Self.now)
        }
        guard case .token = answer(.textualLifetime), case .refused(let nonsense) = answer(.malformedToken),
            case .refused(let refused) = answer(.tokenRefused), case .refused(let away) = answer(.unavailable)
        else {
            Issue.record("each fault has its answer")
            return
        }
        #expect(nonsense.name == .tokenProviderInterfaceError)
        #expect(refused == Outcome(.invalidCredentials, reason: "invalid_client", .stop))
        #expect(away.reaction == .retry(after: .seconds(3), scope: .platform))
    }

    @Test func aMarkedChannelAsksForItsFaultAndNeedsNoDevice() throws {
        var fixture = try WNSFixture()
        let handle = PushHandle("\(WNSFixture.origin)/?token=abc~unregistered")
        let request = try fixture.request(to: handle)
        #expect(
            fixture.simulator.subject(of: request)
                == SimulatedSubject(.send, handle: handle.text, marker: .unregistered))
        #expect(fixture.simulator.answer(request, at: Self.now).response.status == .ok)
    }

    @Test func eachTypeHasOnePlaceWhileTheDeviceIsAwayAndRawHasNone() throws {
        var fixture = try WNSFixture()
        let handle = try fixture.channel()
        var statuses: [String?] = []
        for (type, body) in [("toast", "<toast/>"), ("tile", "<tile/>"), ("raw", "r"), ("toast", "<toast>2</toast>")] {
            let request = try fixture.request(
                WNSFixture.message(body, ["x-wns-type": "wns/\(type)", "x-wns-requestforstatus": "true"]), to: handle)
            let response = fixture.simulator.answer(request, at: Self.now).response
            statuses.append(response.fields["x-wns-status"])
            #expect(response.fields["x-wns-deviceconnectionstatus"] == "disconnected")
        }
        #expect(statuses == ["received", "received", "dropped", "received"])
        let waiting = fixture.simulator.devices.startListening(handle.text, at: Self.now)
        #expect(waiting?.map(\.payload) == ["<tile/>", "<toast>2</toast>"])
    }

    @Test func tooManyWithinASecondAreTooManyForTheAppAndForTheChannel() throws {
        for (change, expected) in [
            ({ $0.pushesPerSecond = 1 }, (406, "dropped")),
            ({ $0.pushesPerSecondAndChannel = 1 }, (200, "channelthrottled")),
        ] as [((inout WNSSimulator.Configuration) -> Void, (Int, String))] {
            var fixture = try WNSFixture(change)
            let request = try fixture.request(to: try fixture.channel())
            #expect(fixture.simulator.answer(request, at: Self.now).response.fields["x-wns-status"] == "received")
            let second = fixture.simulator.answer(request, at: Self.now).response
            #expect((second.status.code, second.fields["x-wns-status"]) == expected)
        }
    }

    @Test func aDocumentThatTheDeviceCannotReadIsTakenAndCounted() throws {
        var fixture = try WNSFixture()
        let request = try fixture.request(WNSFixture.message("<toast>"), to: try fixture.channel())
        #expect(fixture.simulator.answer(request, at: Self.now).response.status == .ok)
        #expect(fixture.simulator.counters["unreadable"] == 1)
    }
}
