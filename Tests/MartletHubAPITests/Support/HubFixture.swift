import Foundation
import MartletCore
import MartletCrypto
import MartletHTTP
import MartletHubAPI
import MartletModel
import MartletPush
import MartletTesting

/// A hub named `demo` on storage in memory, with one rule for each right and the namespace's root rule, at the start of
/// 2026.
struct HubFixture {
    static let key = "c2VjcmV0LWtleQ=="
    static let secondaryKey = "b3RoZXIta2V5"
    static let start = Timestamp(seconds: 1_767_225_600)

    let storage = MemoryStorage()
    let time = ManualTimeSource(start)
    let hub: Hub
    let hubs: HubDirectory
    let router: Router
    /// What the jobs read and write.
    let store = MemoryContainers()
    let signer: URLSigner
    let jobs: JobRunner
    let containers: any HTTPHandler

    init(
        platforms: PushPlatformList = PushPlatformList(PushPlatforms.all + [CarrierPigeon.self]),
        address: PublicAddress = PublicAddress()
    ) async throws {
        let names: [(String, AccessRights)] = [
            ("listen", .listen), ("send", .send), ("manage", [.listen, .send, .manage]),
        ]
        let rules = names.map { name, rights in
            AccessRule(
                name: name, rights: rights, primaryKey: Self.key, secondaryKey: Self.secondaryKey,
                createdAt: Self.start, modifiedAt: Self.start)
        }
        _ = try await storage.setNamespaceRules(
            [
                AccessRule(
                    name: AccessRule.rootName, rights: .all, primaryKey: Self.key, secondaryKey: Self.secondaryKey,
                    createdAt: Self.start, modifiedAt: Self.start)
            ], replacing: [])
        guard
            let hub = try await storage.createHub(
                name: "demo", settings: HubSettings(accessRules: rules), at: Self.start)
        else {
            throw HubDirectoryError.exists("demo")
        }
        self.hub = hub
        let hubs = HubDirectory(store: storage, platforms: platforms, time: time)
        try await hubs.reload()
        self.hubs = hubs
        let devices = DeviceRegistry(store: storage, platforms: platforms, time: time) {
            hubs.hub($0)?.settings.registrationTTL
        }
        let signer = try URLSigner(key: Array("a key for signed URLs".utf8))
        self.signer = signer
        let store = store
        jobs = JobRunner(
            jobs: storage, devices: storage, containers: store,
            lines: RegistrationLines(devices: devices, platforms: platforms), time: time)
        let dispatcher = Dispatcher(
            notifications: storage, devices: storage, maps: MemoryProgressMaps(), hubs: hubs, platforms: platforms,
            transport: PigeonTransport(), messageIDs: MessageIDKey(1, 2), time: time)
        let api = HubAPI(
            hubs: hubs, devices: devices,
            notifications: NotificationIntake(
                store: storage, platforms: platforms, time: time, backlogLimits: { hubs.backlogLimits(of: $0) },
                accepted: { _ in }),
            testSends: dispatcher.makeTestSends(), dryRuns: dispatcher.makeDryRuns(),
            controls: dispatcher.makeControls(),
            traces: Traces(
                store: storage, maps: MemoryProgressMaps(), platforms: platforms, messageIDs: MessageIDKey(1, 2)),
            deadLetters: DeadLetters(store: storage, time: time, accepted: { _ in }), funnels: Funnels(store: storage),
            jobs: jobs, platforms: platforms, signer: signer, address: address,
            time: time)
        self.containers = ContainerAPI(store: store, signer: signer, time: time).makeHandler()
        var router = Router(refuse: HubAPI.refusal(time: time))
        api.addRoutes(to: &router)
        self.router = router
    }

    /// A current token of one of the rules, for the whole host as the JavaScript client makes it.
    static func token(
        _ rule: String, for resource: String = "https://hub.example:8443/", key: String = key,
        expiry: Timestamp = start + .seconds(3600)
    ) throws -> String {
        try SharedAccessToken.authorization(for: resource, keyName: rule, key: key, expiry: expiry) { message, key in
            Base64.encode(try HMACSHA256.authenticationCode(for: message, key: key))
        }
    }

    /// Sends a request with a token of a rule.
    func send(
        _ method: HTTPMethod, _ target: String, as rule: String = "manage", fields: HTTPFields = [:],
        body: String = ""
    ) async throws -> HTTPResponse {
        var fields = fields
        if fields["authorization"] == nil {
            fields["authorization"] = try Self.token(rule, expiry: time.now + .seconds(3600))
        }
        return await router.respond(
            to: HTTPRequest(
                method, target, authority: "hub.example:8443", fields: fields, body: Array(body.utf8)))
    }

    /// A signed URL of the container `jobs`, or of a blob in it.
    func signedURL(_ blob: String? = nil) throws -> String {
        let path = ["$containers", "jobs"]
        let query = try signer.query(for: path, .container, rights: .all, until: Self.start + .seconds(3600))
        return "https://hub.example:8443/\((path + [blob].compactMap(\.self)).joined(separator: "/"))?\(query)"
    }

    /// A body of a golden file with signed URLs in it.
    func withSignedURLs(_ text: String) throws -> String {
        guard text.contains("@") else { return text }
        var text = text
        for (word, blob) in [("container", nil), ("file", "in.txt")] {
            let url = try signedURL(blob)
            text = text.replacing("@plain-\(word)", with: url)
            text = text.replacing("@\(word)", with: url.replacing("&", with: "&amp;"))
        }
        return text
    }

    /// Registers a loft.
    func register(_ loft: String, as id: String, tags: String = "") async throws {
        let body =
            "<PigeonRegistrationDescription><Tags>\(tags)</Tags><Loft>\(loft)</Loft></PigeonRegistrationDescription>"
        let response = try await send(.put, "/demo/registrations/\(id)", body: body)
        guard response.status == .ok else { throw HubDirectoryError.notFound(response.text) }
    }
}

extension HTTPResponse {
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The text of the first element of a name.
    func element(_ name: String) -> String? {
        guard let start = text.range(of: "<\(name)>"), let end = text.range(of: "</\(name)>") else { return nil }
        return String(text[start.upperBound..<end.lowerBound])
    }

    /// How often a text occurs in the body.
    func count(of wanted: String) -> Int { text.components(separatedBy: wanted).count - 1 }
}
