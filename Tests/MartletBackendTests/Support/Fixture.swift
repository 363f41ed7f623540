import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletOpenIDConnect
import MartletPush
import MartletTesting
import Synchronization

@testable import MartletBackend

/// A backend over storage in memory, asked as the network would ask it.
struct Fixture {
    static let cheap = Argon2id.Parameters(memory: 8, iterations: 1, parallelism: 1)

    let time = ManualTimeSource()
    let storage = MemoryStorage()
    /// Where the bodies of payloads are.
    let containers = MemoryContainers()
    let platforms = PushPlatformList([CarrierPigeon.self] + PushPlatforms.all)
    let hubs: HubDirectory
    let users: UserDirectory
    let devices: DeviceRegistry
    let removal: UserRemoval
    let sent = Sent()
    /// The networks whose log-ins were refused because of failed ones.
    let slowedDown = SlowedDown()
    let notifications: FailingNotifications
    let handler: any HTTPHandler

    /// Users alice, bob and carol, whose passwords are their names with a 1.
    /// - Parameters:
    ///   - sendsTo: The platforms that hubs have a credential for.
    ///   - backlogLimits: The limits of unfinished notifications of each hub; nil for none.
    ///   - room: How many notifications are taken before there is no room left.
    init(
        hubs names: [String] = ["hub"], hubName: String? = nil, settings: BackendSettings = BackendSettings(),
        hashing: Argon2idQueue = Argon2idQueue(), sendsTo: [String] = ["pigeon"],
        roomForNotifications room: Int = .max, backlogLimits: BacklogLimits? = nil,
        identityProvider: (ManualTimeSource) -> IdentityProvider? = { _ in nil }
    ) async throws {
        let credentials = sendsTo.map { (PlatformID(rawValue: $0), Credential([:])) }
        hubs = HubDirectory(
            store: storage, platforms: platforms, time: time,
            fallbacks: Dictionary(uniqueKeysWithValues: credentials))
        _ = containers.createContainer(PayloadBodies.container)
        for name in names { _ = try await hubs.create(name) }
        users = UserDirectory(store: storage, time: time, hashing: hashing, cost: Self.cheap)
        for name in ["alice", "bob", "carol"] { try await users.add(name, password: name + "1") }
        devices = DeviceRegistry(store: storage, platforms: platforms, time: time)
        removal = UserRemoval(users: users, devices: devices, hub: BackendHub(hubs, named: hubName))
        let sent = sent
        notifications = FailingNotifications(storage, after: room)
        let slowedDown = slowedDown
        handler = try Backend(
            users: users, devices: devices,
            intake: NotificationIntake(
                store: notifications, platforms: platforms, time: time, backlogLimits: { _ in backlogLimits }
            ) {
                sent.append($0)
            },
            keys: storage, payloads: storage, bodies: PayloadBodies(containers), receipts: storage,
            sends: storage, platforms: platforms,
            hub: BackendHub(hubs, named: hubName), identityProvider: identityProvider(time), time: time,
            settings: settings
        ) { slowedDown.append($0) }
        .makeHandler()
    }

    final class SlowedDown: Sendable {
        private let all = Mutex<[String]>([])
        var networks: [String] { all.withLock(\.self) }
        func append(_ network: String) { all.withLock { $0.append(network) } }
    }

    /// What was accepted.
    final class Sent: Sendable {
        private let all = Mutex<[Delivery]>([])
        var deliveries: [Delivery] { all.withLock { $0 } }
        func append(_ deliveries: [Delivery]) { all.withLock { $0 += deliveries } }
    }
}

extension Fixture {
    /// - Parameter user: Shown by Basic with the password of `init`; nil shows nothing.
    func ask(
        _ method: HTTPMethod, _ target: String, as user: String? = nil, _ body: String = "",
        fields: HTTPFields = [:], peer: String = "192.0.2.1"
    ) async -> HTTPResponse {
        var fields = fields
        if let user { fields["authorization"] = basic(user, user.lowercased() + "1") }
        return await handler.respond(
            to: HTTPRequest(
                method, target, fields: fields, body: Array(body.utf8),
                connection: HTTPConnection(id: 1, peer: peer, isSecure: true)))
    }

    func basic(_ user: String, _ password: String) -> String {
        "Basic " + Base64.encode(Array("\(user):\(password)".utf8))
    }

    /// Registers a handle under a new id.
    func register(
        _ handle: String, as user: String, platform: String = "pigeon", tags: [String] = []
    ) async throws -> String {
        let id = try await newID(as: user)
        _ = await put(id, handle, as: user, platform: platform, tags: tags)
        return id
    }

    func newID(as user: String, handle: String? = nil) async throws -> String {
        let query = handle.map { "?handle=" + PercentEncoding.encode($0) } ?? ""
        return try await ask(.post, "/api/register" + query, as: user).json.string ?? ""
    }

    func put(
        _ id: String, _ handle: String, as user: String, platform: String = "pigeon", tags: [String] = []
    ) async -> HTTPResponse {
        let body: JSON = [
            "Platform": .string(platform), "Handle": .string(handle), "Tags": .array(tags.map { .string($0) }),
        ]
        return await ask(.put, "/api/register/" + id, as: user, body.text)
    }

    /// What is stored of a registration.
    func registration(_ id: String) async throws -> Registration? {
        guard let hub = hubs.all.first else { return nil }
        return try await storage.registration(id, in: hub.id, at: time.now)
    }

    /// The handles that a delivery goes to.
    func audience(of delivery: Delivery) async throws -> Set<String> {
        guard case .audience(let expression) = delivery.notification.target else { return [] }
        let page = try await storage.audience(
            AudienceQuery(
                hub: delivery.notification.hub, platform: delivery.platform, expression: expression,
                throughChannel: delivery.bounds.channel, limit: 1000, now: time.now))
        return Set((0..<page.count).map { page.withHandle($0) { String(decoding: $0, as: UTF8.self) } })
    }
}

extension HTTPResponse {
    var json: JSON {
        get throws { try JSON(parsing: bytes) }
    }

    /// The sentence of a refusal.
    var message: String { (try? json["message"]?.string) ?? "" }
}
