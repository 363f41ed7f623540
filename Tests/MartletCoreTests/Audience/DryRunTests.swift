import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct DryRunTests {
    private let hello = Notification.Content.native(CarrierPigeon.platform, Message(body: Array("hello".utf8)))

    private func dryRuns(_ flight: Flight, transport: (any HTTPTransport)? = nil) -> DryRuns {
        DryRuns(
            devices: flight.storage, notifications: flight.storage, platforms: flight.platforms,
            credentials: CredentialChecker(
                resolver: LaneResolver(hubs: flight.hubs, platforms: flight.platforms),
                transport: transport ?? flight.transport,
                time: flight.time),
            time: flight.time)
    }

    private func properties(_ text: String) -> Notification.Content { .template(properties: Array(text.utf8)) }

    @Test func aCountEqualsTheTargetsOfASend() async throws {
        let flight = try await Flight()
        for number in 1...7 { try await flight.register("loft\(number)", id: "r\(number)", tags: ["x"]) }
        try await flight.register("loft1", id: "twin", tags: ["x"])
        try await flight.register("other", id: "other", tags: ["y"])
        let target = Notification.Target.audience(try TagExpression("x && !y"))
        let run = try await dryRuns(flight).run(hello, to: target, in: flight.hub)
        #expect(run.refusal == nil)
        #expect(run.problems.isEmpty)
        #expect(run.targeted == 7)
        #expect(run.count?.registrations == 8)
        #expect(run.platforms.map(\.credential) == [CredentialCheck(.usable)])
        #expect(run.platforms[0].payloads.map { $0.message?.body } == [Array("hello".utf8)])
        #expect(flight.transport.sent.isEmpty, "nothing is sent")
        #expect(try await flight.storage.unfinished(after: .none, limit: 9).isEmpty, "nothing is stored")
        let delivery = try await flight.accept(to: target)
        _ = try await flight.run(delivery)
        #expect(flight.transport.sent.count == run.targeted)
    }

    @Test func everyDistinctTemplateIsFilledInOnceWithItsPushes() async throws {
        let flight = try await Flight()
        for number in 1...3 { try await flight.register("a\(number)", id: "a\(number)", Template(body: "\"$(msg)\"")) }
        let named = Template(name: "long", body: "\"{'[' + $(msg) + ']'}\"")
        try await flight.register("b", id: "b", named)
        let run = try await dryRuns(flight).run(properties(#"{"msg":"hi"}"#), to: .audience(nil), in: flight.hub)
        #expect(run.problems.isEmpty)
        let payloads = try #require(run.platforms.first).payloads
        #expect(payloads.map(\.pushes) == [3, 1])
        #expect(payloads.map { $0.template?.name } == [nil, "long"])
        #expect(payloads.map { String(decoding: $0.message?.body ?? [], as: UTF8.self) } == ["\"hi\"", "\"[hi]\""])
    }

    @Test func propertiesThatNoTemplateNamesAndPlacesWithoutAValueAreCautions() async throws {
        let flight = try await Flight()
        for number in 1...3 {
            try await flight.register("a\(number)", id: "a\(number)", Template(body: "\"$(Greet)\""))
        }
        try await flight.register("b", id: "b", Template(body: "\"$(who)\""), variables: ["Who": "you"])
        let run = try await dryRuns(flight).run(
            properties(#"{"msg":"hi","WHO":"me","also":1}"#), to: .audience(nil), in: flight.hub)
        #expect(run.problems.isEmpty)
        #expect(
            run.cautions == [
                "There is no value for 'greet': its place stays empty in 3 pushes.",
                "No template of these devices names the properties 'also', 'msg'.",
            ])
        let filled = try await dryRuns(flight).run(
            properties(#"{"greet":"hi"}"#), to: .audience(nil), in: flight.hub)
        #expect(filled.cautions.isEmpty, "the variable of the device has a value for 'who'")
    }

    @Test func ofATemplateWithVariablesTheLargestFillingIsShown() async throws {
        let flight = try await Flight()
        let template = Template(body: "\"$(name)\"")
        for (number, name) in ["Al", "Alexander", "Alex", "Al"].enumerated() {
            try await flight.register("l\(number)", id: "\(number)", template, variables: ["name": name])
        }
        let run = try await dryRuns(flight).run(properties("{}"), to: .audience(nil), in: flight.hub)
        let payload = try #require(run.platforms.first?.payloads.first)
        #expect([payload.pushes, payload.renderings] == [4, 3])
        #expect(payload.message?.body == Array("\"Alexander\"".utf8))
    }

    @Test func aTemplateThatBecomesTooLargeIsNamedWithItsPushes() async throws {
        let flight = try await Flight()
        let text = String(repeating: "x", count: 990)
        try await flight.register("a", id: "a", Template(name: "short", body: "\"$(msg)\""))
        for number in 1...2 {
            let body = "\"{'a prefix of some length ' + $(msg)}\""
            try await flight.register("b\(number)", id: "b\(number)", Template(name: "long", body: body))
        }
        let run = try await dryRuns(flight).run(properties("{\"msg\":\"\(text)\"}"), to: .audience(nil), in: flight.hub)
        #expect(run.refusal == nil)
        #expect(
            run.problems == [
                "The template 'long' on pigeon, which is 2 pushes: A pigeon carries at most 1000 bytes."
            ])
        #expect(run.platforms[0].payloads.map(\.pushes) == [2, 1])
    }

    @Test func onlySomeTemplatesAreShownAndTheRestIsCounted() async throws {
        let flight = try await Flight()
        for number in 1...25 {
            try await flight.register("l\(number)", id: "\(number)", Template(body: "\"\(number) $(msg)\""))
        }
        try await flight.register("last", id: "last", Template(body: "\"25 $(msg)\""))
        let run = try await dryRuns(flight).run(properties("{}"), to: .audience(nil), in: flight.hub)
        let result = try #require(run.platforms.first)
        #expect(result.payloads.count == DryRun.payloadLimit)
        #expect(result.payloads[0].pushes == 2, "those with the most pushes first")
        #expect([result.furtherTemplates, result.furtherPushes, result.targeted] == [5, 5, 26])
    }

    @Test func aDryRunAnswersWithTheRefusalAndTheOtherResults() async throws {
        let flight = try await Flight()
        try await flight.register(2)
        let huge = Notification.Content.native(
            CarrierPigeon.platform, Message(body: [UInt8](repeating: 1, count: 1001)))
        let run = try await dryRuns(flight).run(huge, to: .audience(nil), in: flight.hub)
        #expect(run.refusal == "A pigeon carries at most 1000 bytes.")
        #expect(run.problems == ["A pigeon carries at most 1000 bytes."], "once")
        #expect(run.targeted == 2)
        let broken = try await dryRuns(flight).run(properties("no JSON"), to: .audience(nil), in: flight.hub)
        #expect(broken.refusal != nil)
    }

    @Test func anEmptyAudienceIsAProblem() async throws {
        let flight = try await Flight()
        let run = try await dryRuns(flight).run(hello, to: .audience(nil), in: flight.hub)
        #expect(run.problems == ["The audience is empty: the send would end as NoTargetFound."])
        #expect(run.platforms.map(\.targeted) == [0], "its credential and payload are told all the same")
    }

    @Test func whenAndHowFastItGoesOutIsJudgedTogether() async throws {
        let flight = try await Flight()
        for number in 1...40 { try await flight.register("loft\(number)", id: "r\(number)") }
        let now = flight.time.now
        func run(
            _ rollout: Rollout? = nil, due: Timestamp? = nil, _ expiry: Expiry? = nil
        ) async throws -> DryRun {
            try await dryRuns(flight).run(
                hello, to: .audience(nil), in: flight.hub, dueAt: due, expiry: expiry, rollout: rollout)
        }
        let slow = try await run(Rollout(.rate(1)), .after(.seconds(6)))
        #expect(
            slow.problems == [
                "At 1 a second 40 pushes take 40 s, but it expires after 6 s: about 34 would be abandoned."
            ])
        #expect(slow.startsAt == now && slow.expiresAt == now + .seconds(6))
        #expect(slow.rollout?.seconds(for: slow.targeted) == 40)
        #expect(try await run(Rollout(.rate(10)), .after(.seconds(6))).problems.isEmpty)
        let long = try await run(Rollout(.over(.seconds(60))), .after(.seconds(6)))
        #expect(long.refusal?.contains("would take longer than the notification lives") == true)
        let past = try await run(due: now + .seconds(-61))
        #expect(past.problems.first?.hasSuffix("is in the past: the send would begin at once.") == true)
        #expect(try await run(due: now + .seconds(-59)).problems.isEmpty)
        let later = try await run(due: now + .seconds(3600))
        #expect(later.problems.isEmpty && later.startsAt == now + .seconds(3600))
        let never = try await run(due: now + .seconds(367 * 86_400))
        #expect(never.refusal == "A notification may be scheduled for at most 366 days ahead.")
    }

    @Test func aDirectSendTriesAndCountsEachHandleOnce() async throws {
        let flight = try await Flight()
        try await flight.hubs.setCredential(Credential(["Ring": "1"]), for: HomingPigeon.platform, of: "aviary")
        let content = Notification.Content.native(HomingPigeon.platform, Message(body: [1]))
        let handles = [
            "https://a.example/x", "https://a.example/x", "https://b.example/blind", "https://b.example/choosy",
        ]
        let run = try await dryRuns(flight).run(content, to: .direct(handles.map { PushHandle($0) }), in: flight.hub)
        #expect(run.count == nil)
        #expect(run.targeted == 3)
        #expect(
            run.problems == [
                "1 of 3 handles: The loft takes no letters.", "1 of 3 handles: The pigeon does not see its loft.",
            ])
    }

    @Test func devicesWhoseAddressesNothingCanBeSentToAreAProblemWithTheirNumber() async throws {
        let flight = try await Flight()
        try await flight.hubs.setCredential(Credential(["Ring": "1"]), for: HomingPigeon.platform, of: "aviary")
        let content = Notification.Content.native(HomingPigeon.platform, Message(body: [1]))
        func register(_ handle: String, id: String) async throws {
            let draft = RegistrationDraft(
                platform: HomingPigeon.platform, handle: PushHandle(handle), handleKey: handle, tags: [])
            _ = try await flight.storage.apply(
                .put(draft, id: id, condition: .none), in: flight.hub, at: flight.time.now
            ).get()
        }
        try await register("nowhere", id: "a")
        #expect(
            try await dryRuns(flight).run(content, to: .audience(nil), in: flight.hub).problems == [
                "The pigeon has no home."
            ])
        try await register("https://a.example/x", id: "b")
        let run = try await dryRuns(flight).run(content, to: .audience(nil), in: flight.hub)
        #expect(run.problems == ["1 of 2 handles: The pigeon has no home."])
        #expect(run.targeted == 2)
    }

    // MARK: Credentials

    @Test func aMissingOrUnreadableCredentialIsTold() async throws {
        let flight = try await Flight(hasCredential: false)
        try await flight.register(1)
        let missing = try await dryRuns(flight).run(hello, to: .audience(nil), in: flight.hub)
        #expect(missing.platforms[0].credential.state == .missing)
        #expect(missing.problems == ["The hub has no credential for pigeon."])
        let bottle = Notification.Content.native(MessageInABottle.platform, Message(body: [1]))
        let run = try await dryRuns(flight).run(bottle, to: .audience(nil), in: flight.hub)
        #expect(run.platforms[0].credential.state == .missing)
    }

    @Test func aTokenIsReallyAskedForAndARefusalIsTold() async throws {
        let flight = try await Flight()
        try await flight.hubs.setCredential(
            Credential(["Nest": "a"]), for: TokenPigeon.descriptor.platform, of: "aviary")
        let content = Notification.Content.native(TokenPigeon.descriptor.platform, Message(body: [1]))
        func check(_ answer: Result<HTTPResponse, TransportError>) async throws -> CredentialCheck {
            let run = try await dryRuns(flight, transport: TokenOffice(answer: answer))
                .run(content, to: .direct([PushHandle("a")]), in: flight.hub)
            return run.platforms[0].credential
        }
        #expect(try await check(answered(200)) == CredentialCheck(.usable, expiresAt: TokenPigeon.end))
        let refused = try await check(answered(401))
        #expect(refused.state == .unusable)
        #expect(refused.problem == "The credential for token gets no token: InvalidCredentials, status 401.")
        let away = try await check(.failure(TransportError(.unreachable, mayHaveBeenProcessed: false, "away")))
        #expect(away.state == .unchecked)
        #expect(away.problem?.contains("could not be checked") == true)
    }

    @Test func anExpiredCredentialIsToldWithoutAskingAnybody() async throws {
        let flight = try await Flight()
        try await flight.hubs.setCredential(
            Credential(["Nest": "a"]), for: TokenPigeon.descriptor.platform, of: "aviary")
        flight.time.advance(by: TokenPigeon.end - flight.time.now)
        let content = Notification.Content.native(TokenPigeon.descriptor.platform, Message(body: [1]))
        let run = try await dryRuns(flight).run(content, to: .direct([PushHandle("a")]), in: flight.hub)
        #expect(run.platforms[0].credential.state == .unusable)
        #expect(run.problems == ["The credential for token expired at \(TokenPigeon.end.iso8601)."])
    }

    @Test func aRefusedTokenOfADryRunDelaysNoSend() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        let lane = LaneID(hub: flight.hub, platform: CarrierPigeon.platform)
        _ = try await dryRuns(flight).run(hello, to: .audience(nil), in: flight.hub)
        #expect(flight.lanes.isOpen(lane))
        #expect(flight.metrics.figures.renewals.isEmpty)
        let delivery = try await flight.accept()
        #expect(try await flight.run(delivery) == .finished)
    }
}

/// Answers every request for a token the same, and takes nothing else.
private struct TokenOffice: HTTPTransport {
    let answer: Result<HTTPResponse, TransportError>

    func send(
        _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void
    ) async {
        Issue.record("a dry run sends nothing")
    }

    func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse {
        try answer.get()
    }
}
