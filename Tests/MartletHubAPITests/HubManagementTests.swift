import Foundation
import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletPush
import MartletTesting
import Testing

@testable import MartletHubAPI

/// The management of hubs beyond what the golden exchanges show.
struct HubManagementTests {
    private static let root = AccessRule.rootName
    private static let existing: HTTPFields = ["if-match": "*"]
    private static let now = HubFixture.start

    private func description(_ content: String) -> String {
        "<entry><content><NotificationHubDescription>\(content)</NotificationHubDescription></content></entry>"
    }

    private func credential(_ element: String, _ properties: KeyValuePairs<String, String>) -> String {
        let list = properties.map { "<Property><Name>\($0.key)</Name><Value>\($0.value)</Value></Property>" }
        return "<\(element)><Properties>\(list.joined())</Properties></\(element)>"
    }

    /// For tests only: PKCS#8 of a P-256 key.
    private static let signingKey =
        "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyChRANCAARRXD1uueOW"
        + "uQTT/sp/VP3NDMHpl783XcpRWtCmw7QDX0U2vjpQ8xj7+aVHWQKiIVAr7w1X4IxTsswKVvF9n5NU"
    private static let settings = HubSettings(
        accessRules: [
            AccessRule(name: "b", rights: .send, at: now + .seconds(-5)), AccessRule(name: "a", rights: .all, at: now),
        ],
        credentials: [
            CarrierPigeon.platform: Credential([
                "Endpoint": "https://north.example ", "Whistle": "secret-tweet", "Route": "hidden-route",
            ]),
            PlatformID(rawValue: "elsewhere"): Credential(["X": "secret-of-a-platform-that-is-gone"]),
        ],
        registrationTTL: .milliseconds(90_061_500), userMetadata: "<note> & \u{1F426}")

    @Test("Trap 18: what is read is in the binding order")
    func descriptionsAreInOrder() async throws {
        let platforms = PushPlatformList([LatePigeon.self, CarrierPigeon.self, EarlyPigeon.self])
        let fixture = try await HubFixture(platforms: platforms)
        _ = try await fixture.hubs.update("demo") { settings in
            settings.userMetadata = "x"
            for descriptor in [EarlyPigeon.descriptor, LatePigeon.descriptor, CarrierPigeon.descriptor] {
                settings.credentials[descriptor.platform] = Credential(["Whistle": "x"])
            }
        }
        let root = try XMLReader().read(try await fixture.send(.get, "/demo").bytes)
        #expect(
            root.children.map(\.name) == ["id", "title", "published", "updated", "author", "link", "content"])
        #expect(
            root.child("content")?.children.first?.children.map(\.name) == [
                "RegistrationTtl", "EarlyPigeonCredential", "AuthorizationRules", "UserMetadata",
                "LatePigeonCredential", "PigeonCredential",
            ])
        let rule = root.child("content")?.children.first?.child("AuthorizationRules")?.children.first
        #expect(
            rule?.children.map(\.name) == [
                "ClaimType", "ClaimValue", "Rights", "CreatedTime", "ModifiedTime", "KeyName", "PrimaryKey",
                "SecondaryKey",
            ])
    }

    @Test("Trap 18: every platform's credential stands in its place")
    func credentialsAreInTheirPlaces() async throws {
        let fixture = try await HubFixture(platforms: PushPlatforms.all)
        var settings = fixture.hub.settings
        settings.userMetadata = "x"
        for platform in PushPlatforms.all { settings.credentials[platform.descriptor.platform] = Credential([:]) }
        _ = try await fixture.storage.updateHub(
            fixture.hub.id, settings: settings, replacing: fixture.hub.settings, at: Self.now)
        try await fixture.hubs.reload()
        let root = try XMLReader().read(try await fixture.send(.get, "/demo").bytes)
        #expect(
            root.child("content")?.children.first?.children.map(\.name) == [
                "ApnsCredential", "RegistrationTtl", "WnsCredential", "AuthorizationRules", "GcmCredential",
                "MpnsCredential", "UserMetadata", "AdmCredential", "BaiduCredential", "FcmV1Credential",
                "BrowserCredential",
            ])
    }

    @Test("Trap 22: every platform shows only the properties of NotificationHubs.md, section 13.3")
    func everyPlatformShowsKnownPropertiesOnly() {
        let known: Set<String> = [
            "Endpoint", "KeyId", "AppName", "AppId", "PackageSid", "WindowsLiveEndpoint", "GcmEndpoint", "ProjectId",
            "ClientEmail", "ClientId", "AuthTokenUrl", "SendUrlTemplate", "BaiduApiKey", "BaiduEndPoint", "Subject",
            "VapidPublicKey",
        ]
        for platform in PushPlatforms.all {
            let descriptor = platform.descriptor
            let all = Dictionary(uniqueKeysWithValues: descriptor.credential.fields.map { ($0.name, "x") })
            let shown = Set(descriptor.shown(Credential(all)).keys)
            #expect(descriptor.credential.index == nil || shown.isSubset(of: known), "\(descriptor.platform)")
        }
    }

    @Test("Trap 22: only properties that Java knows are shown, and no secret")
    func onlyKnownPropertiesAreShown() async throws {
        let fixture = try await HubFixture()
        let hub = try await fixture.hubs.create(
            "aviary",
            HubSettings(credentials: [
                CarrierPigeon.platform: Credential(["Whistle": "secret", "Route": "hidden", "Feather": "unknown"])
            ]))
        let text = try await fixture.send(.get, "/\(hub.name)", as: Self.root).text
        #expect(text.contains("<Name>Endpoint</Name><Value>https://pigeon.example</Value>"))
        for hidden in ["Whistle", "secret", "Route", "hidden", "Feather", "unknown"] {
            #expect(!text.contains(hidden), "\(hidden)")
        }
    }

    @Test("Trap 16: an answer is well-formed whatever a hub holds")
    func answersAreWellFormed() async throws {
        let fixture = try await HubFixture()
        _ = try await fixture.hubs.update("demo") { $0.userMetadata = "]]>\u{1}\u{FFFF}<&\"" }
        let root = try XMLReader().read(try await fixture.send(.get, "/demo").bytes)
        let read = root.child("content")?.children.first?.child("UserMetadata")?.text
        #expect(read == "]]>\u{FFFD}\u{FFFD}<&\"")
    }

    @Test func writingBackAReadDocumentChangesNothing() async throws {
        let fixture = try await HubFixture()
        let hub = try #require(fixture.hubs.hub(named: "demo"))
        _ = try await fixture.storage.updateHub(
            hub.id, settings: Self.settings, replacing: hub.settings, at: Self.now)
        try await fixture.hubs.reload()
        fixture.time.advance(by: .seconds(60))
        for _ in 0..<2 {
            let entry = try await fixture.send(.get, "/demo", as: Self.root).text
            let answer = try await fixture.send(.put, "/demo", as: Self.root, fields: Self.existing, body: entry)
            #expect(answer.status == .ok)
            #expect(answer.text == entry)
            #expect(fixture.hubs.hub(named: "demo")?.settings == Self.settings)
            #expect(try await fixture.storage.hubs().map(\.settings) == [Self.settings])
        }
    }

    @Test func aSigningKeyIsKeptWhenJavaDropsWhatBelongsToIt() async throws {
        let fixture = try await HubFixture()
        let stored = Credential([
            "Token": Self.signingKey, "KeyId": "ABC123DEFG", "AppId": "DEF123GHIJ",
            "AppName": "com.example.app",
        ])
        let platform = try #require(PushPlatforms.all.format("apple")).descriptor.platform
        try await fixture.hubs.setCredential(stored, for: platform, of: "demo")
        let shown = try await fixture.send(.get, "/demo", as: Self.root).text
        #expect(shown.contains("<Name>Endpoint</Name><Value>https://api.push.apple.com:443/3/device</Value>"))
        let written = credential(
            "ApnsCredential",
            [
                "Endpoint": "https://api.push.apple.com:443/3/device", "ApnsCertificate": "null",
                "CertificateKey": "null",
            ])
        let answer = try await fixture.send(
            .put, "/demo", as: Self.root, fields: Self.existing, body: description(written))
        #expect(answer.status == .ok)
        #expect(fixture.hubs.hub(named: "demo")?.settings.credentials == [platform: stored])
    }

    @Test(arguments: [
        "gateway.push.apple.com", "gateway.sandbox.push.apple.com", "https://api.push.apple.com:443/3/device",
        "https://api.development.push.apple.com:443/3/device",
    ])
    func aCertificateIsTakenWithEveryEndpointThatClientsWrite(endpoint: String) async throws {
        let fixture = try await HubFixture()
        let identity = try CertificateAuthority.generate(commonName: "CA", now: Int(Self.now.seconds))
            .issue(CertificateRequest(commonName: "Push", userID: "com.example.app"), now: Int(Self.now.seconds))
        let certificate = Base64.encode(try identity.pkcs12(password: "p"))
        let written = credential(
            "ApnsCredential", ["Endpoint": endpoint, "ApnsCertificate": certificate, "CertificateKey": "p"])
        let answer = try await fixture.send(.put, "/aviary", as: Self.root, body: description(written))
        #expect(answer.status == .created)
        #expect(answer.text.contains("<Value>\(endpoint)</Value>"))
        #expect(!answer.text.contains("CertificateKey"))
        let stored = fixture.hubs.hub(named: "aviary")?.settings.credentials.values.first
        #expect(
            stored == Credential(["Endpoint": endpoint, "ApnsCertificate": certificate, "CertificateKey": "p"]))
    }

    @Test func aChangedCredentialNeverKeepsAnOldSecret() async throws {
        let fixture = try await HubFixture()
        let stored = Credential(["Endpoint": "https://north.example", "Whistle": "secret"])
        try await fixture.hubs.setCredential(stored, for: CarrierPigeon.platform, of: "demo")
        let changed: [KeyValuePairs<String, String>] = [
            ["Endpoint": "https://attacker.example"], ["Endpoint": "https://north.example", "Whistle": "new"],
        ]
        var answers: [HTTPStatus] = []
        for properties in changed {
            let body = description(credential("PigeonCredential", properties))
            answers.append(
                try await fixture.send(.put, "/demo", as: Self.root, fields: Self.existing, body: body).status)
        }
        #expect(answers == [.badRequest, .ok])
        let now = fixture.hubs.hub(named: "demo")?.settings.credentials[CarrierPigeon.platform]
        #expect(now == Credential(["Endpoint": "https://north.example", "Whistle": "new"]))
    }

    @Test func aChangeOfOnePropertyKeepsTheSecrets() async throws {
        let fixture = try await HubFixture()
        let stored = Credential(["ClientId": "amzn1.old", "ClientSecret": "secret"])
        let platform = PlatformID(rawValue: "adm")
        try await fixture.hubs.setCredential(stored, for: platform, of: "demo")
        let shown = try await fixture.send(.get, "/demo", as: Self.root).text
        let answer = try await fixture.send(
            .put, "/demo", as: Self.root, fields: Self.existing,
            body: shown.replacing("amzn1.old", with: "amzn1.new"))
        #expect(answer.status == .ok)
        let now = fixture.hubs.hub(named: "demo")?.settings.credentials[platform]
        #expect(now == Credential(["ClientId": "amzn1.new", "ClientSecret": "secret"]))
    }

    @Test(arguments: [("AuthTokenUrl", "https://attacker.example/t"), ("SendUrlTemplate", "https://10.0.0.5/{0}")])
    func anotherAddressNeedsTheSecretsAgain(name: String, value: String) async throws {
        let fixture = try await HubFixture()
        let stored = Credential(["ClientId": "amzn1.old", "ClientSecret": "secret"])
        let platform = PlatformID(rawValue: "adm")
        try await fixture.hubs.setCredential(stored, for: platform, of: "demo")
        let changed = description(credential("AdmCredential", ["ClientId": "amzn1.old", name: value]))
        let answer = try await fixture.send(.put, "/demo", as: Self.root, fields: Self.existing, body: changed)
        #expect(answer.status == .badRequest)
        #expect(fixture.hubs.hub(named: "demo")?.settings.credentials[platform] == stored)
    }

    @Test(arguments: ["https://127.0.0.1:22", "https://10.0.0.5", "https://internal.example/3/device"])
    func aDocumentCannotSendPushesOfAPNsElsewhere(endpoint: String) async throws {
        let fixture = try await HubFixture()
        let written = credential(
            "ApnsCredential",
            [
                "Token": Self.signingKey, "KeyId": "ABC123DEFG", "AppId": "DEF123GHIJ", "AppName": "com.example.app",
                "Endpoint": endpoint, "EndpointCertificateAuthority": "x",
            ])
        let answer = try await fixture.send(.put, "/aviary", as: Self.root, body: description(written))
        #expect(answer.status == .badRequest)
        #expect(answer.text.contains("push.apple.com"))
        #expect(fixture.hubs.hub(named: "aviary") == nil)
    }

    @Test func aCredentialThatIsLeftOutIsRemoved() async throws {
        let fixture = try await HubFixture()
        try await fixture.hubs.setCredential(Credential(["Whistle": "x"]), for: CarrierPigeon.platform, of: "demo")
        let answer = try await fixture.send(
            .put, "/demo", as: Self.root, fields: Self.existing, body: description(""))
        #expect(answer.status == .ok)
        #expect(fixture.hubs.hub(named: "demo")?.settings.credentials == [:])
        #expect(fixture.hubs.hub(named: "demo")?.settings.accessRules == fixture.hub.settings.accessRules)
    }

    @Test func rulesAreReplacedAndAKeyThatIsNotSaidStays() async throws {
        let fixture = try await HubFixture()
        fixture.time.advance(by: .seconds(60))
        func rule(_ name: String, _ right: String, _ keys: String = "") -> String {
            """
            <AuthorizationRule i:type="SharedAccessAuthorizationRule" xmlns:i="x"><KeyName>\(name)</KeyName>\(keys)\
            <Rights><AccessRights>\(right)</AccessRights></Rights></AuthorizationRule>
            """
        }
        let body = description(
            "<AuthorizationRules>" + rule("send", "Send") + rule("listen", "Send", "<PrimaryKey>new</PrimaryKey>")
                + rule("fresh", "Listen") + "</AuthorizationRules>")
        let answer = try await fixture.send(.put, "/demo", as: Self.root, fields: Self.existing, body: body)
        #expect(answer.status == .ok)
        let rules = try #require(fixture.hubs.hub(named: "demo")?.settings.accessRules)
        #expect(rules.map(\.name) == ["send", "listen", "fresh"])
        #expect(rules[0] == fixture.hub.settings.accessRules[1])
        #expect(rules[1].rights == .send)
        #expect([rules[1].primaryKey, rules[1].secondaryKey] == ["new", HubFixture.secondaryKey])
        #expect([rules[1].createdAt, rules[1].modifiedAt] == [Self.now, fixture.time.now])
        #expect(rules[2].primaryKey.utf8.count == 44)
        #expect(rules[2].secondaryKey != rules[2].primaryKey)
        // The manager's rule is gone, and its token with it.
        #expect(try await fixture.send(.get, "/demo", as: "manage").status == .unauthorized)
    }

    @Test func updatesAtOnceLoseNothing() async throws {
        let fixture = try await HubFixture()
        await withTaskGroup { group in
            for index in 0..<20 {
                group.addTask {
                    _ = try? await fixture.hubs.update("demo") { settings in
                        settings.accessRules[0].primaryKey += "\(index % 10)"
                    }
                }
                group.addTask {
                    _ = try? await fixture.send(
                        .put, "/demo", as: Self.root, fields: Self.existing,
                        body: description("<UserMetadata>\(index)</UserMetadata>"))
                }
            }
        }
        let hub = try #require(fixture.hubs.hub(named: "demo"))
        #expect(hub.settings.accessRules[0].primaryKey.utf8.count == HubFixture.key.utf8.count + 20)
        #expect(hub.settings.userMetadata != nil)
    }

    @Test func theNamespacesRuleDoesAllThatAHubsRuleDoes() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("north", as: "1")
        let pigeon: HTTPFields = ["servicebusnotification-format": "pigeon"]
        #expect(try await fixture.send(.get, "/demo/registrations", as: Self.root).status == .ok)
        #expect(try await fixture.send(.get, "/demo/registrations/1", as: Self.root).status == .ok)
        #expect(
            try await fixture.send(.post, "/demo/messages", as: Self.root, fields: pigeon, body: "x").status == .created
        )
        #expect(try await fixture.send(.get, "/nowhere/registrations", as: Self.root).status == .notFound)
    }

    @Test func aHubsRuleOfTheSameNameDoesNotLockTheNamespaceOut() async throws {
        let fixture = try await HubFixture()
        _ = try await fixture.hubs.update("demo") { settings in
            settings.accessRules.append(AccessRule(name: Self.root, rights: .listen, at: Self.now))
        }
        let own = try #require(fixture.hubs.hub(named: "demo")?.settings.accessRules.last?.primaryKey)
        #expect(try await fixture.send(.get, "/demo/registrations", as: Self.root).status == .ok)
        let token = try HubFixture.token(Self.root, key: own)
        let fields: HTTPFields = ["authorization": token]
        #expect(try await fixture.send(.get, "/demo/registrations", fields: fields).status == .forbidden)
        #expect(try await fixture.send(.get, "/demo", fields: fields).status == .forbidden)
        #expect(try await fixture.send(.get, "/", fields: fields).status == .unauthorized)
    }

    @Test("A regenerated key stops at once, the other goes on", arguments: AccessRule.KeyKind.allCases)
    func aRegeneratedKeyStopsAtOnce(kind: AccessRule.KeyKind) async throws {
        let fixture = try await HubFixture()
        func status(_ rule: String, _ key: String) async throws -> HTTPStatus {
            try await fixture.send(
                .get, "/demo/registrations", fields: ["authorization": try HubFixture.token(rule, key: key)]
            ).status
        }
        let keys = [AccessRule.KeyKind.primary: HubFixture.key, .secondary: HubFixture.secondaryKey]
        for (name, regenerate) in [
            ("manage", { try await fixture.hubs.regenerateKey(kind, of: "manage", in: "demo") }),
            (Self.root, { try await fixture.hubs.regenerateNamespaceKey(kind, of: Self.root) }),
        ] {
            for key in keys.values { #expect(try await status(name, key) == .ok) }
            let rule = try await regenerate()
            for (key, text) in keys { #expect(try await status(name, text) == (key == kind ? .unauthorized : .ok)) }
            #expect(try await status(name, rule[kind]) == .ok)
        }
    }

    @Test func registrationsLiveAsLongAsTheHubSays() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("old", as: "1")
        let answer = try await fixture.send(
            .put, "/demo", as: Self.root, fields: Self.existing,
            body: description("<RegistrationTtl>P1DT1S</RegistrationTtl>"))
        #expect(answer.status == .ok)
        try await fixture.register("north", as: "2")
        func expiry(_ id: String) async throws -> String? {
            try await fixture.send(.get, "/demo/registrations/\(id)").element("ExpirationTime")
        }
        #expect(try await expiry("1") == "9999-12-31T23:59:59.999Z")
        #expect(try await expiry("2") == "2026-01-02T00:00:01.000Z")
        fixture.time.advance(by: .seconds(3600))
        try await fixture.register("north", as: "2")
        #expect(try await expiry("2") == "2026-01-02T01:00:01.000Z")
        fixture.time.advance(by: .seconds(86_401))
        #expect(try await expiry("2") == nil)
        #expect(try await expiry("1") == "9999-12-31T23:59:59.999Z")
        let longest = "<RegistrationTtl>P10675199DT2H48M5.4775806S</RegistrationTtl>"
        _ = try await fixture.send(.put, "/demo", as: Self.root, fields: Self.existing, body: description(longest))
        try await fixture.register("south", as: "3")
        #expect(try await expiry("3") == "9999-12-31T23:59:59.999Z")
    }

    @Test func aDeletedHubsRegistrationsAreGoneWithIt() async throws {
        let fixture = try await HubFixture()
        try await fixture.register("north", as: "1")
        #expect(try await fixture.send(.delete, "/demo").status == .ok)
        #expect(try await fixture.send(.get, "/demo/registrations/1").status == .notFound)
        #expect(try await fixture.send(.put, "/demo", as: Self.root, body: description("")).status == .created)
        #expect(try await fixture.send(.get, "/demo/registrations/1", as: Self.root).status == .notFound)
    }

    @Test func aDescriptionOverTheLimitIsRefused() async throws {
        let fixture = try await HubFixture()
        let body = description("<UserMetadata>\(String(repeating: "x", count: HubDocument.sizeLimit))</UserMetadata>")
        #expect(try await fixture.send(.put, "/x", as: Self.root, body: body).status == .contentTooLarge)
        let metadata = description("<UserMetadata>\(String(repeating: "x", count: 1025))</UserMetadata>")
        #expect(try await fixture.send(.put, "/x", as: Self.root, body: metadata).status == .badRequest)
    }
}

/// Platforms that nothing sends to, with places of their own in the description.
private protocol StoredPigeon: PushPlatform {
    static var name: String { get }
    static var index: Int { get }
}

extension StoredPigeon {
    static var descriptor: PushPlatformDescriptor {
        PushPlatformDescriptor(
            platform: PlatformID(rawValue: name.lowercased()), format: name.lowercased(),
            registration: .init(element: name, handleElements: ["Loft"]),
            credential: .init(
                element: "\(name)Credential", index: index,
                fields: [.init(name: "Whistle", flag: "whistle", help: "", isSecret: true)]),
            outcomeCounts: .init(element: "\(name)OutcomeCounts"),
            fieldPrefixes: [], payloadLimit: 1)
    }

    static func key(of handle: PushHandle) throws(PushServiceError) -> String { handle.text }
    static func check(_ message: Message) throws(PushServiceError) {}
    static func message(showing text: String, id: NotificationID?) throws(PushServiceError) -> Message {
        Message(body: Array(text.utf8))
    }

    static func message(carrying data: DataMessage) throws(PushServiceError) -> Message {
        Message(body: Array(data.texts.map(\.value).joined(separator: "\n").utf8))
    }
}

private enum EarlyPigeon: StoredPigeon {
    static let name = "EarlyPigeon"
    static let index = 2
}

private enum LatePigeon: StoredPigeon {
    static let name = "LatePigeon"
    static let index = 10
}
