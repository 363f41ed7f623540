import Foundation
import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletHubAPI

/// The traps of NotificationHubs.md, section 16, that no golden file or other suite shows.
struct TrapTests {
    private static let pigeon: HTTPFields = ["ServiceBusNotification-Format": "pigeon"]

    @Test("Traps 1 and 5: a request over HTTP/2 without content-length and content-type is answered like any other")
    func aRequestOverHTTP2IsAnswered() async throws {
        let fixture = try await HubFixture()
        let connection = HTTPConnection(id: 1, peer: "127.0.0.1", isSecure: true, majorVersion: 2)
        let request = HTTPRequest(
            .post, "/demo/messages?api-version=2020-06", authority: "hub.example:8443",
            fields: [
                "servicebusnotification-format": "pigeon", "authorization": try HubFixture.token("send"),
            ], body: [1], connection: connection)
        #expect(await fixture.router.respond(to: request).status == .created)
    }

    @Test("Trap 3: hubs stand at the root of the path, and nothing redirects")
    func nothingRedirects() async throws {
        let fixture = try await HubFixture()
        for target in ["/demo/registrations", "/demo/registrations/", "/demo", "/", "/prefix/demo/registrations"] {
            let response = try await fixture.send(.get, target)
            #expect(!(300..<400).contains(response.status.code))
        }
    }

    @Test("Trap 4: a send is answered before anything is delivered")
    func aSendIsAnsweredBeforeDelivery() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("north", as: "1")
        #expect(try await fixture.send(.post, "/demo/messages", fields: Self.pigeon, body: "x").status == .created)
        #expect(try await fixture.storage.unfinished(after: .none, limit: 10).map(\.state) == [.enqueued])
    }

    @Test(
        "Trap 6: paths are matched in any case and with a trailing slash",
        arguments: ["/demo/Registrations/1", "/DEMO/REGISTRATIONS/1/", "/demo/registrations/1/"])
    func pathsAreMatchedInAnyCase(target: String) async throws {
        let fixture = try await HubFixture()
        try await fixture.register("north", as: "1")
        #expect(try await fixture.send(.get, target).status == .ok)
    }

    @Test("Trap 7: a test flag on everything but a send changes nothing")
    func aTestFlagChangesNothing() async throws {
        let fixture = try await HubFixture()
        #expect(try await fixture.send(.get, "/demo/registrations?api-version=2020-06&test").status == .ok)
    }

    @Test("Trap 11: a bad token is a 401, which no client repeats; a missing right is an empty 403")
    func aBadTokenIsA401() async throws {
        let fixture = try await HubFixture()
        let bad = try await fixture.send(.get, "/demo/registrations", as: "nobody")
        #expect(bad.status == .unauthorized)
        let weak = try await fixture.send(.get, "/demo/registrations", as: "send")
        #expect(weak.status == .forbidden)
        #expect(weak.bytes.isEmpty)
        #expect(weak.fields["trackingid"]?.isEmpty == false)
    }

    @Test("Trap 12: registrations answer 200, new ids and sends 201")
    func statusesAreTheServices() async throws {
        let fixture = try await HubFixture()
        let body = "<PigeonRegistrationDescription><Loft>a</Loft></PigeonRegistrationDescription>"
        #expect(try await fixture.send(.post, "/demo/registrations", body: body).status == .ok)
        #expect(try await fixture.send(.put, "/demo/registrations/1", body: body).status == .ok)
        #expect(try await fixture.send(.delete, "/demo/registrations/1").status == .ok)
        #expect(try await fixture.send(.post, "/demo/registrationids").status == .created)
        #expect(try await fixture.send(.post, "/demo/messages", fields: Self.pigeon, body: "x").status == .created)
    }

    @Test("Trap 13: Retry-After is a whole number of seconds", arguments: StorageError.Kind.all)
    func retryAfterIsANumber(kind: StorageError.Kind) throws {
        let error = HubAPIError(StorageError(kind, "secret detail of the disk"))
        let response = error.response(TrackingID(of: HTTPRequest(.get, "/")), at: HubFixture.start)
        #expect(response.status == (kind == .corrupt ? 500 : kind == .full ? 507 : 503))
        if response.status != 500 {
            #expect(Int(try #require(response.fields["retry-after"])) != nil)
        }
        #expect(!response.text.contains("disk"))
    }

    @Test(
        "A hub that is being moved, or whose cluster is away, is named as such",
        arguments: [(StorageError.Cause.hubMoves, "being moved", "2"), (.clusterAway, "cannot be reached", "10")])
    func theCauseIsTold(cause: StorageError.Cause, words: String, seconds: String) {
        var storageError = StorageError(.unavailable, "secret detail")
        storageError.cause = cause
        let error = HubAPIError(storageError)
        let response = error.response(TrackingID(of: HTTPRequest(.get, "/")), at: HubFixture.start)
        #expect(response.fields["retry-after"] == seconds)
        #expect(response.text.contains(words) && !response.text.contains("secret"))
    }

    @Test(
        "Trap 14: a Location is an absolute https URL with four segments, at the host that the client used",
        arguments: [true, false])
    func aLocationIsAbsolute(isSecure: Bool) async throws {
        let fixture = try await HubFixture()
        for authority in ["hub.example:8443", "HUB.example:8443"] {
            let request = HTTPRequest(
                .post, "/Demo/RegistrationIDs/?api-version=2020-06", authority: authority,
                fields: ["authorization": try HubFixture.token("listen")],
                connection: HTTPConnection(id: 1, peer: "127.0.0.1", isSecure: isSecure))
            let location = try #require(await fixture.router.respond(to: request).fields["location"])
            let parts = location.components(separatedBy: "/")
            #expect(parts.prefix(5) == ["https:", "", "hub.example:8443", "demo", "registrationids"])
            #expect(parts.count == 6)
            #expect(parts[5].hasSuffix("-1?api-version=2020-06"))
        }
    }

    @Test("Trap 14: behind a proxy the URL comes from configuration")
    func theConfiguredAddressIsUsed() async throws {
        let fixture = try await HubFixture(address: PublicAddress(HTTPOrigin("http://127.0.0.1:8080")))
        let response = try await fixture.send(.post, "/demo/registrationids")
        #expect(response.fields["location"]?.hasPrefix("http://127.0.0.1:8080/demo/registrationids/") == true)
    }

    @Test func anAuthorityThatIsNoneDoesNotReachAURL() {
        for authority in ["", "a b", "x\"><y", "user@host", "host:port"] {
            let request = HTTPRequest(.get, "/", authority: authority)
            #expect(PublicAddress().origin(of: request) == "https://localhost")
        }
    }

    @Test("Trap 15: the id of a message stands right behind messages")
    func theMessageIDStandsBehindMessages() async throws {
        let fixture = try await HubFixture()
        let response = try await fixture.send(.post, "/demo/messages/", fields: Self.pigeon, body: "x")
        let parts = try #require(response.fields["location"]).components(separatedBy: "/")
        #expect(parts[4] == "messages")
        #expect(NotificationID(parts[5].prefix(32)) != nil)
    }

    @Test("Traps 16 and 17: answers are one line without a declaration, whatever the message holds")
    func answersAreOneLine() async throws {
        let fixture = try await HubFixture()
        let sent = try await fixture.send(
            .post, "/demo/messages", fields: Self.pigeon, body: "<a>&\u{1}\r\n]]>\u{FFFF}")
        let id = try #require(sent.fields["location"]).components(separatedBy: "/")[5].prefix(32)
        let response = try await fixture.send(.get, "/demo/messages/\(id)")
        #expect(response.text.hasPrefix("<NotificationDetails xmlns="))
        let root = try XMLReader().read(response.bytes)
        #expect(root.child("NotificationBody")?.text == "<a>&\u{FFFD}\r\n]]>\u{FFFD}")
    }

    @Test("Trap 18: telemetry is in the binding order, with counts once there are some")
    func telemetryIsInOrder() async throws {
        let fixture = try await HubFixture()
        let sent = try await fixture.send(
            .post, "/demo/messages", fields: ["servicebusnotification-format": "pigeon"], body: "x")
        let id = try #require(sent.fields["location"]).components(separatedBy: "/")[5].prefix(32)
        let start = HubFixture.start
        try await fixture.storage.record(
            DeliveryStep(
                delivery: try #require(try await fixture.storage.unfinished(after: .none, limit: 10).first).delivery.id,
                isFannedOut: true, state: .completed, startedAt: start + .milliseconds(500),
                endedAt: start + .milliseconds(900), counts: [.wrongToken: 1, .success: 3, .badChannel: 2, .skipped: 0])
        )
        let root = try XMLReader().read(try await fixture.send(.get, "/demo/messages/\(id)").bytes)
        #expect(
            root.children.map(\.name) == [
                "NotificationId", "Location", "State", "EnqueueTime", "StartTime", "EndTime", "NotificationBody",
                "TargetPlatforms", "PigeonOutcomeCounts",
            ])
        #expect(root.child("State")?.text == "Completed")
        #expect(root.child("StartTime")?.text == "2026-01-01T00:00:00.500Z")
        let outcomes = root.child("PigeonOutcomeCounts")?.children.map { $0.children.map(\.text) }
        #expect(outcomes == [["Success", "3"], ["BadChannel", "2"], ["WrongToken", "1"]])
    }

    @Test("Traps 19 and 20: answers name the concrete element that the platform's descriptor says")
    func answersNameTheConcreteElement() async throws {
        let fixture = try await HubFixture()
        let body =
            #"<RegistrationDescription i:type="PigeonRegistrationDescription"><Loft>a</Loft></RegistrationDescription>"#
        let response = try await fixture.send(.put, "/demo/registrations/1", body: body)
        let root = try XMLReader().read(response.bytes)
        #expect(root.child("content")?.children.map(\.name) == ["PigeonRegistrationDescription"])
    }

    @Test("Trap 22, Trap 23: every state is one of the eight spellings that Java knows")
    func everyStateIsKnown() {
        let states: [NotificationState] = [
            .enqueued, .processing, .completed, .noTargetFound, .abandoned, .scheduled, .canceled,
        ]
        let known = [
            "Enqueued", "Processing", "Completed", "NoTargetFound", "Abandoned", "Scheduled", "Canceled", "Unknown",
        ]
        #expect(states.allSatisfy { known.contains($0.rawValue) })
    }

    @Test(
        "Trap 27: an If-Match is a star or a number, quoted or not, weak or not",
        arguments: [
            (nil, .none), ("*", .exists), ("\"*\"", .exists), ("W/\"*\"", .exists), ("W/\"12\"", .version(12)),
            ("\"12\"", .version(12)), ("12", .version(12)), ("\"x\"", .version(-1)), ("", .version(-1)),
            ("\"", .version(-1)),
        ] as [(String?, WriteCondition)])
    func anIfMatchIsAStarOrANumber(header: String?, condition: WriteCondition) {
        #expect(EntityTag.condition(header) == condition)
    }

    @Test("A body over the limit is a 413", arguments: ["/demo/messages", "/demo/registrations"])
    func aBodyOverTheLimitIsRefused(target: String) async throws {
        let fixture = try await HubFixture()
        let body = String(repeating: "x", count: 65_537)
        let response = try await fixture.send(.post, target, fields: Self.pigeon, body: body)
        #expect(response.status == .contentTooLarge)
        #expect(response.text.contains("The body is larger than 65536 bytes"))
        let token = try HubFixture.token("manage", expiry: fixture.time.now + .seconds(3600))
        let head = HTTPRequest(.post, target, authority: "hub.example:8443", fields: ["authorization": token])
        #expect(fixture.router.route(for: head).bodyLimit == 65_536)
    }

    @Test("A stranger's body is not read, whatever the route", arguments: [HTTPMethod.post, .put, .patch, .delete])
    func aRequestWithoutATokenIsRefusedOnItsHead(method: HTTPMethod) async throws {
        let fixture = try await HubFixture()
        for name in fixture.router.routeNames where name.hasPrefix("\(method.rawValue) ") {
            let target = name.dropFirst(method.rawValue.utf8.count + 1).replacing("{hub}", with: "demo")
            let route = fixture.router.route(for: HTTPRequest(method, String(target), authority: "hub.example"))
            #expect(route.body == .ignored, "\(name)")
        }
    }

    @Test func theRateOfAKeyIsTakenFromOnceForEachRequest() async throws {
        let fixture = try await HubFixture()
        let token = try HubFixture.token("manage", expiry: fixture.time.now + .seconds(3600))
        let head = HTTPRequest(.post, "/demo/messages", authority: "hub.example", fields: ["authorization": token])
        let route = fixture.router.route(for: head)
        #expect(route.account == .caller("manage", scope: "demo"))
        #expect(route.body == .collected)
    }

    @Test(arguments: ["", "a b", "<x>", String(repeating: "a", count: 129)])
    func aTrackingIDThatCouldDoHarmIsReplaced(sent: String) async throws {
        let fixture = try await HubFixture()
        let response = try await fixture.send(.get, "/demo/registrations", fields: ["trackingid": sent])
        let id = try #require(response.fields["trackingid"])
        #expect(id != sent)
        #expect(id.utf8.count == 36)
    }

    @Test(
        "Dates of errors are as the original service writes them",
        arguments: [
            (1_541_549_917, "11/7/2018 12:18:37 AM"), (1_541_593_117, "11/7/2018 12:18:37 PM"),
            (1_767_225_599, "12/31/2025 11:59:59 PM"), (1_767_229_200, "1/1/2026 1:00:00 AM"),
        ])
    func datesOfErrors(seconds: Int, text: String) {
        #expect(Timestamp(seconds: Int64(seconds)).usText == text)
    }
}

extension StorageError.Kind {
    static let all: [StorageError.Kind] = [.full, .corrupt, .locked, .unavailable, .closed]
}
