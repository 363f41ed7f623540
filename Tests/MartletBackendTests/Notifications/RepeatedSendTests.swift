import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletBackend

/// What `Idempotency-Key` promises for every kind of send.
struct RepeatedSendTests {
    enum Kind: String, CaseIterable, Sendable {
        case text, textToAll, message, rich, richJSON, secure, encrypted

        /// Whether a send is refused if the hub has no credentials. The others are accepted: their pushes fail later.
        var needsCredentials: Bool { [.textToAll, .rich, .richJSON, .secure].contains(self) }
    }

    /// A send that can be made again as it was.
    private struct Order {
        var target: String
        var body: [UInt8]
        var type = "application/json"
    }

    private func order(_ kind: Kind, _ content: String = "hello", in fixture: Fixture) async throws -> Order {
        switch kind {
        case .text:
            return Order(
                target: "/api/notifications?pns=pigeon&to_tag=bob", body: Array(JSON.string(content).text.utf8))
        case .textToAll:
            return Order(target: "/api/notifications?pns=all&to_tag=bob", body: Array(JSON.string(content).text.utf8))
        case .message:
            _ = try await fixture.register("bob1", as: "bob")
            let body: JSON = ["to": "bob", "message": ["text": .string(content)]]
            return Order(target: "/api/notifications/message", body: body.bytes)
        case .rich:
            return Order(
                target: "/api/notifications/rich", body: Form(("to", "bob"), file: Array(content.utf8)).bytes,
                type: Form.contentType)
        case .richJSON:
            let body: JSON = ["to": "bob", "payload": .string(Base64.encode(Array(content.utf8)))]
            return Order(target: "/api/notifications/rich", body: body.bytes)
        case .secure:
            let body: JSON = ["to": "bob", "payload": .string(content)]
            return Order(target: "/api/notifications/secure", body: body.bytes)
        case .encrypted:
            let devices = [
                try await fixture.registerKeyed("bob1", as: "bob"), try await fixture.registerKeyed("bob2", as: "bob"),
            ]
            // One that fits its push, and one that does not.
            let texts = [content, content + String(repeating: "long ", count: 200)]
            let body: JSON = [
                "to": "bob", "ciphertexts": .array(try zip(devices, texts).map { try $0.entry($1) }),
            ]
            return Order(target: "/api/notifications/encrypted", body: body.bytes)
        }
    }

    private func send(
        _ order: Order, as user: String = "alice", key: String? = "k1", through handler: (any HTTPHandler)? = nil,
        _ fixture: Fixture
    ) async -> HTTPResponse {
        var fields: HTTPFields = [
            "authorization": fixture.basic(user, user + "1"), "content-type": order.type,
        ]
        if let key { fields["idempotency-key"] = key }
        return await (handler ?? fixture.handler).respond(
            to: HTTPRequest(
                .post, order.target, fields: fields, body: order.body,
                connection: HTTPConnection(id: 1, peer: "192.0.2.1", isSecure: true)))
    }

    /// A server that was started again, and has credentials for other platforms.
    private func restarted(_ fixture: Fixture, sendingTo platforms: [String]) async throws -> any HTTPHandler {
        let credentials = platforms.map { (PlatformID(rawValue: $0), Credential([:])) }
        let hubs = HubDirectory(
            store: fixture.storage, platforms: fixture.platforms, time: fixture.time,
            fallbacks: Dictionary(uniqueKeysWithValues: credentials))
        try await hubs.reload()
        return try restarted(fixture, hubs)
    }

    /// A server that was started again.
    private func restarted(_ fixture: Fixture, _ hubs: HubDirectory? = nil) throws -> any HTTPHandler {
        try Backend(
            users: fixture.users, devices: fixture.devices,
            intake: NotificationIntake(store: fixture.notifications, platforms: fixture.platforms, time: fixture.time) {
                fixture.sent.append($0)
            },
            keys: fixture.storage, payloads: fixture.storage, bodies: PayloadBodies(fixture.containers),
            receipts: fixture.storage, sends: fixture.storage, platforms: fixture.platforms,
            hub: BackendHub(hubs ?? fixture.hubs), time: fixture.time
        ).makeHandler()
    }

    @Test(arguments: Kind.allCases)
    func aRepeatedRequestIsAnsweredAsTheFirstAndSendsNothing(kind: Kind) async throws {
        let fixture = try await Fixture()
        let order = try await order(kind, in: fixture)
        let first = await send(order, fixture)
        #expect(first.status.isSuccess)
        let count = fixture.sent.deliveries.count
        let again = await send(order, fixture)
        #expect(again.status == first.status && again.bytes == first.bytes)
        fixture.time.advance(by: .seconds(86_399))
        let later = await send(order, through: try restarted(fixture), fixture)
        #expect(later.status == first.status && later.bytes == first.bytes)
        #expect(fixture.sent.deliveries.count == count)
        #expect(try fixture.bodies.count == (order.target.hasSuffix("rich") ? 1 : 0))
    }

    @Test(arguments: Kind.allCases)
    func anotherRequestUnderTheKeyIsRefused(kind: Kind) async throws {
        let fixture = try await Fixture()
        _ = await send(try await order(kind, in: fixture), fixture)
        let count = fixture.sent.deliveries.count
        let bodies = try fixture.bodies
        let other = await send(try await order(kind, "other", in: fixture), fixture)
        #expect(other.status == 422)
        #expect(other.message.contains("Idempotency-Key"))
        #expect(fixture.sent.deliveries.count == count)
        #expect(try fixture.bodies == bodies)
    }

    @Test(arguments: Kind.allCases)
    func anotherKeyAnotherUserAndAnotherDaySendAgain(kind: Kind) async throws {
        let fixture = try await Fixture()
        let order = try await order(kind, in: fixture)
        _ = await send(order, fixture)
        let count = fixture.sent.deliveries.count
        #expect(await send(order, key: "k2", fixture).status.isSuccess)
        #expect(await send(order, key: nil, fixture).status.isSuccess)
        #expect(await send(order, as: "carol", fixture).status.isSuccess)
        fixture.time.advance(by: .seconds(86_400))
        #expect(await send(order, fixture).status.isSuccess)
        #expect(fixture.sent.deliveries.count == 5 * count)
    }

    @Test(arguments: Kind.allCases)
    func anInterruptedSendIsCompletedAndNothingIsSentTwice(kind: Kind) async throws {
        let fixture = try await Fixture(sendsTo: ["pigeon", "apns"], roomForNotifications: 1)
        let order = try await order(kind, in: fixture)
        let first = await send(order, fixture)
        let isOne = kind == .text || kind == .message
        #expect(isOne ? first.status.isSuccess : first.status == .insufficientStorage)
        #expect(fixture.sent.deliveries.count == 1)
        fixture.notifications.makeRoom()
        let second = await send(order, through: try restarted(fixture), fixture)
        #expect(second.status.isSuccess)
        let count = isOne ? 1 : 2
        #expect(fixture.sent.deliveries.count == count)
        let ids = Set(fixture.sent.deliveries.map(\.notification.id))
        #expect(ids.count == count)
        let third = await send(order, fixture)
        #expect(third.bytes == second.bytes)
        #expect(fixture.sent.deliveries.count == count)
        guard let id = second.payloadID else { return }
        #expect(await fixture.ask(.get, "/api/notifications/\(id)", as: "bob").status == .ok)
    }

    @Test(arguments: Kind.allCases)
    func aNewUserWithTheNameOfARemovedOneHasKeysOfItsOwn(kind: Kind) async throws {
        let fixture = try await Fixture()
        let order = try await order(kind, in: fixture)
        let first = await send(order, fixture)
        let count = fixture.sent.deliveries.count
        try await fixture.users.add("alice", password: "alice1")
        #expect(await send(order, fixture).bytes == first.bytes, "a new password is no new user")
        #expect(fixture.sent.deliveries.count == count)
        try await fixture.removal.remove("alice")
        fixture.time.advance(by: .seconds(1))
        try await fixture.users.add("alice", password: "alice1")
        let second = await send(order, fixture)
        #expect(second.status == first.status)
        #expect(fixture.sent.deliveries.count == 2 * count)
        #expect(await send(order, fixture).bytes == second.bytes)
        #expect(fixture.sent.deliveries.count == 2 * count)
        #expect(await send(try await self.order(kind, "other", in: fixture), fixture).status == 422)
    }

    @Test func aRepeatedMessageIsKnownAfterADeviceWithASmallerLimitHasCome() async throws {
        let fixture = try await Fixture()
        let body: JSON = ["to": "bob", "message": ["text": .string(String(repeating: "x", count: 1000))]]
        let order = Order(target: "/api/notifications/message", body: body.bytes)
        let first = await send(order, fixture)
        #expect(first.status == .created)
        _ = try await fixture.register("bob1", as: "bob")
        let again = await send(order, fixture)
        #expect(again.status == .created && again.bytes == first.bytes)
        #expect(await send(order, key: "k2", fixture).status == .contentTooLarge)
    }

    @Test func aRepeatedTextIsKnownAfterAPlatformWithASmallerLimitHasCome() async throws {
        let fixture = try await Fixture(sendsTo: ["apns"])
        let text = JSON.string(String(repeating: "x", count: 1000)).text
        let order = Order(target: "/api/notifications?pns=all&to_tag=bob", body: Array(text.utf8))
        let first = await send(order, fixture)
        #expect(first.status == .ok)
        let handler = try await restarted(fixture, sendingTo: ["apns", "pigeon"])
        let again = await send(order, through: handler, fixture)
        #expect(again.status == .ok && again.bytes == first.bytes)
        #expect(await send(order, key: "k2", through: handler, fixture).status == .contentTooLarge)
        #expect(fixture.sent.deliveries.count == 1)
    }

    @Test(arguments: Kind.allCases)
    func aRepeatedRequestIsKnownAfterTheCredentialsWereRemoved(kind: Kind) async throws {
        let fixture = try await Fixture()
        let order = try await order(kind, in: fixture)
        let first = await send(order, fixture)
        let count = fixture.sent.deliveries.count
        let handler = try await restarted(fixture, sendingTo: [])
        let again = await send(order, through: handler, fixture)
        #expect(again.status == first.status && again.bytes == first.bytes)
        #expect(fixture.sent.deliveries.count == count)
        let refused = await send(order, key: "k2", through: handler, fixture)
        #expect(refused.status.isSuccess != kind.needsCredentials)
        if kind.needsCredentials { #expect(refused.message.contains("credential")) }
        let other = try await self.order(kind, "other", in: fixture)
        #expect(await send(other, through: handler, fixture).status == 422)
    }

    @Test func aRepeatedTextIsKnownAfterItsCredentialWasReplacedByOneWithASmallerLimit() async throws {
        let fixture = try await Fixture(sendsTo: ["apns"])
        let text = JSON.string(String(repeating: "x", count: 1000)).text
        let order = Order(target: "/api/notifications?pns=all&to_tag=bob", body: Array(text.utf8))
        let first = await send(order, fixture)
        #expect(first.status == .ok)
        let handler = try await restarted(fixture, sendingTo: ["pigeon"])
        let again = await send(order, through: handler, fixture)
        #expect(again.status == .ok && again.bytes == first.bytes)
        #expect(await send(order, key: "k2", through: handler, fixture).status == .contentTooLarge)
        #expect(await send(order, key: nil, through: handler, fixture).status == .contentTooLarge)
        #expect(fixture.sent.deliveries.count == 1)
    }

    @Test func aRepeatedTextIsAnsweredAsTheFirstAfterOneOfItsCredentialsWasRemoved() async throws {
        let fixture = try await Fixture(sendsTo: ["apns", "pigeon"])
        let order = Order(target: "/api/notifications?pns=all&to_tag=bob", body: Array(#""hello""#.utf8))
        let first = await send(order, fixture)
        #expect(try first.json["ids"]?.object?.count == 2)
        let handler = try await restarted(fixture, sendingTo: ["pigeon"])
        let again = await send(order, through: handler, fixture)
        #expect(again.status == .ok && again.bytes == first.bytes)
        let other = Order(target: order.target, body: Array(#""other""#.utf8))
        #expect(await send(other, through: handler, fixture).status == 422)
        #expect(fixture.sent.deliveries.count == 2)
    }

    @Test func eachDeviceGetsItsOwnWhereASendWasFinishedLater() async throws {
        let fixture = try await Fixture(roomForNotifications: 1)
        let order = try await order(.encrypted, in: fixture)
        _ = await send(order, fixture)
        fixture.notifications.makeRoom()
        let response = await send(order, fixture)
        var handles: [Set<String>] = []
        for delivery in fixture.sent.deliveries { handles.append(try await fixture.audience(of: delivery)) }
        #expect(handles == [["bob1"], ["bob2"]])
        let id = try #require(try response.json["devices"]?.array?.last?["id"]?.integer)
        #expect(fixture.pushes.last?.contains { $0.contains(String(id)) } == true)
        #expect(await fixture.ask(.get, "/api/notifications/\(id)", as: "bob").status == .ok)
    }

    @Test func refusedSendsAreNotRemembered() async throws {
        let fixture = try await Fixture(roomForNotifications: 0)
        let order = try await order(.secure, in: fixture)
        #expect(await send(order, fixture).status == .insufficientStorage)
        fixture.notifications.makeRoom()
        #expect(await send(try await self.order(.secure, "other", in: fixture), fixture).status == .created)
        #expect(fixture.sent.deliveries.count == 1)
    }

    @Test func aRepeatedFileTakesNoRoom() async throws {
        var settings = BackendSettings()
        settings.payloads.quota = 1500 + StoredPayload.recordSize
        let fixture = try await Fixture(settings: settings)
        let order = try await order(.rich, String(repeating: "x", count: 1000), in: fixture)
        let first = await send(order, fixture)
        #expect(first.status == .created)
        #expect(await send(order, key: "k2", fixture).status == .contentTooLarge)
        let again = await send(order, fixture)
        #expect(again.status == .created && again.bytes == first.bytes)
    }

    @Test(arguments: ["", " ", "a b", "é", String(repeating: "k", count: 256)])
    func aKeyThatIsNoneIsRefused(key: String) async throws {
        let fixture = try await Fixture()
        for kind in Kind.allCases {
            let response = await send(try await order(kind, in: fixture), key: key, fixture)
            #expect(response.status == .badRequest)
        }
        #expect(fixture.sent.deliveries.isEmpty)
    }
}
