import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

struct DeadLetterRouteTests {
    /// A confidential notification whose pushes to `r1` and `r2` were refused.
    private func failed(_ fixture: HubFixture) async throws -> NotificationID {
        try await fixture.register("loft1", as: "r1")
        try await fixture.register("loft2", as: "r2")
        let draft = NotificationDraft(
            id: NotificationID(at: fixture.time.now), hub: fixture.hub.id,
            content: .native(PlatformID(rawValue: "pigeon"), Message(body: Array("secret".utf8))),
            target: .audience(nil), acceptedAt: fixture.time.now, expiresAt: fixture.time.now + .seconds(60),
            isConfidential: true)
        guard case .accepted(_, let deliveries) = try await fixture.storage.accept(draft) else {
            throw NotificationIntakeError.conflicting
        }
        let refusals = (1...2).map { channel in
            Refusal(
                member: AudienceMember(channel: ChannelID(rawValue: Int64(channel))),
                handle: PushHandle("loft\(channel)"), outcome: channel == 1 ? .badChannel : .wrongToken,
                reason: "Lost", at: fixture.time.now, attempts: 2,
                answer: PushAnswer(origin: "https://pigeon.example", status: 404), fate: .quarantined)
        }
        try await fixture.storage.record(
            DeliveryStep(
                delivery: deliveries[0].id, isFannedOut: true, state: .completed, endedAt: fixture.time.now,
                counts: [.badChannel: 1, .wrongToken: 1, .success: 3], refusals: refusals))
        return draft.id
    }

    private func json(_ fixture: HubFixture, _ target: String) async throws -> JSON {
        let response = try await fixture.send(.get, target)
        #expect(response.status == .ok)
        #expect(!response.text.contains("loft") && !response.text.contains("secret"))
        return try JSON(parsing: response.bytes)
    }

    @Test func deadLettersAreListedWithTheirReasonsAndWithoutHandlesAndPayloads() async throws {
        let fixture = try await HubFixture()
        let id = try await failed(fixture)
        let sends = try await json(fixture, "/demo/deadletters")
        #expect(sends["notifications"]?.array?.count == 1)
        #expect(sends["notifications"]?.array?.first?["notification"]?.string == id.description)
        #expect(sends["notifications"]?.array?.first?["platforms"] == ["pigeon": ["BadChannel": 1, "WrongToken": 1]])
        let page = try await json(fixture, "/demo/messages/\(id)/deadletters")
        let letters = try #require(page["deadLetters"]?.array)
        #expect(letters.map { $0["registration"] } == ["r1", "r2"])
        #expect(letters.map { $0["outcome"] } == ["BadChannel", "WrongToken"])
        #expect(letters[0]["reason"] == "Lost" && letters[0]["status"] == 404 && letters[0]["attempts"] == 2)
        #expect(letters[0]["token"] == "quarantined")
        #expect(page["resends"] == [] && page["continuation"] == nil)
        let rest = try await json(fixture, "/demo/messages/\(id)/deadletters?continuation=1.1.0")
        #expect(rest["deadLetters"]?.array?.map { $0["registration"] } == ["r2"])
    }

    @Test(
        "A resend, and what controls a send, has no dry run and no test",
        arguments: ["dryRun", "dry-run", "test"])
    func aResendThatIsToBeTriedIsRefused(item: String) async throws {
        let fixture = try await HubFixture()
        let id = try await failed(fixture)
        for path in ["deadletters/resend", "resume", "pause", "cancel"] {
            let refused = try await fixture.send(.post, "/demo/messages/\(id)/\(path)?\(item)")
            #expect(refused.status == .badRequest)
            #expect(refused.text.contains("leave out the query item '\(item)'; nothing was done"))
        }
        #expect(try await fixture.storage.unfinished(after: .none, limit: 9).isEmpty)
    }

    @Test func theyAreSentAgainByOutcomeAndOnlyOnce() async throws {
        let fixture = try await HubFixture()
        let id = try await failed(fixture)
        let path = "/demo/messages/\(id)/deadletters/resend"
        let first = try await fixture.send(.post, path + "?outcome=BadChannel", as: "send")
        #expect(first.status == .created)
        let new = try #require(try JSON(parsing: first.bytes)["notification"]?.string)
        #expect(first.fields["location"]?.contains("/demo/messages/\(new)?") == true)
        #expect(try await fixture.send(.post, path + "?outcome=BadChannel").status == .conflict)
        for unknown in ["Throttled", "wrongtoken"] {
            let refused = try await fixture.send(.post, path + "?outcome=\(unknown)")
            #expect(refused.status == .conflict)
            #expect(refused.text.contains("it has some of WrongToken."), "by its exact name, and what is left of them")
        }
        #expect(try await fixture.send(.post, path).status == .created)
        let again = try await fixture.send(.post, path)
        #expect(again.status == .conflict && again.text.contains("sent again"))
        let page = try await json(fixture, "/demo/messages/\(id)/deadletters")
        #expect(page["deadLetters"]?.array?.first?["resentAs"]?.string == new)
        #expect(page["resends"]?.array?.count == 2)
        let open = try await fixture.storage.unfinished(after: .none, limit: 10)
        #expect(open.count == 2 && open.allSatisfy(\.delivery.notification.isConfidential))
    }

    @Test func whereNobodyIsLeftNothingIsSentAgain() async throws {
        let fixture = try await HubFixture()
        let id = try await failed(fixture)
        let path = "/demo/messages/\(id)/deadletters/resend"
        func remove(_ registration: String) async throws {
            _ = try await fixture.storage.apply(
                RegistrationChange.delete(id: registration, condition: .none), in: fixture.hub.id, at: fixture.time.now
            ).get()
        }
        try await remove("r1")
        let refused = try await fixture.send(.post, path + "?outcome=BadChannel")
        #expect(refused.status == .conflict)
        #expect(refused.text.contains("is registered any more"))
        #expect(try await fixture.send(.post, path + "?outcome=WrongToken").status == .created)
        try await remove("r2")
        #expect(try await fixture.send(.post, path).text.contains("is registered any more"))
    }

    @Test func aResendNeedsAnEndedNotificationAndTheRight() async throws {
        let fixture = try await HubFixture()
        let id = try await failed(fixture)
        let sent = try await fixture.send(
            .post, "/demo/messages", fields: ["servicebusnotification-format": "pigeon"], body: "coo")
        let location = try #require(sent.fields["location"])
        let open = try #require(location.split(separator: "?").first?.split(separator: "/").last)
        #expect(try await fixture.send(.post, "/demo/messages/\(open)/deadletters/resend").status == .conflict)
        for unknown in ["nonsense", "\(NotificationID(high: 1, low: 2))"] {
            #expect(try await fixture.send(.get, "/demo/messages/\(unknown)/deadletters").status == .notFound)
            #expect(try await fixture.send(.post, "/demo/messages/\(unknown)/deadletters/resend").status == .notFound)
        }
        for bad in ["/demo/deadletters?continuation=x", "/demo/messages/\(id)/deadletters?continuation=1.x.2"] {
            #expect(try await fixture.send(.get, bad).status == .badRequest)
        }
        for rule in ["listen", "send"] {
            #expect(try await fixture.send(.get, "/demo/deadletters", as: rule).status == .forbidden)
            #expect(try await fixture.send(.get, "/demo/messages/\(id)/deadletters", as: rule).status == .forbidden)
        }
        let refused = try await fixture.send(.post, "/demo/messages/\(id)/deadletters/resend", as: "listen")
        #expect(refused.status == .forbidden)
    }
}
