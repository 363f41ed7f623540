import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletHubAPI

struct SharedAccessSignatureTests {
    /// The vectors of NotificationHubs.md, section 2.4: key `c2VjcmV0LWtleQ==`, `se=1893456000`.
    struct Vector: Sendable, CustomTestStringConvertible {
        let client: String
        let resource: String
        let signature: String
        let method: HTTPMethod
        let target: String

        var testDescription: String { client }
    }

    static let vectors = [
        Vector(
            client: "Java", resource: "https%3a%2f%2flocalhost%3a8443%2fmyhub%2fmessages%3fapi-version%3d2020-06",
            signature: "Nn8RDo1IzKS5JPlmBnV4yXxmtXxBLclsbgVB4geaKeQ=", method: .post,
            target: "/myhub/messages?api-version=2020-06"),
        Vector(
            client: ".NET", resource: "http%3a%2f%2flocalhost%2fmyhub%2fmessages%2f",
            signature: "ZsRb9vJTOrFhfBkQCAaYEhrWCC5vUvaGKJvmnwx8GpU=", method: .post,
            target: "/MyHub/messages?api-version=2020-06"),
        Vector(
            client: "JavaScript and PyPI", resource: "https%3A%2F%2Flocalhost%3A8443%2F",
            signature: "8h3mfTNsWdFqxrggAkZ3d3giNVNKtat6LUc4O6x/rak=", method: .post,
            target: "/myhub/messages/?api-version=2020-06"),
        Vector(
            client: "iOS",
            resource: "http%3a%2f%2flocalhost%3a8443%2fmyhub%2finstallations%2fabc%3fapi-version%3d2020-06",
            signature: "ZdXrwQ3H+H9SpnlnW7tXieO0XCmVV2spwWR6AQmHEKs=", method: .put,
            target: "/myhub/installations/ABC?api-version=2020-06"),
        Vector(
            client: "Android",
            resource: "https%3a%2f%2flocalhost%3a8443%2fmyhub%2finstallations%2fabc%3fapi-version%3d2020-06",
            signature: "KUWPn/mqNJJvYizFnRNlXyn2qkeQKh8hNwTWleB5hBs=", method: .put,
            target: "/myhub/installations/abc?api-version=2020-06"),
        Vector(
            client: "The Python sample", resource: "https%3a%2f%2flocalhost%3a8443%2fmyhub",
            signature: "5hZyDOMy57ymRvQV23GSK/IyEKGfJtN6UT4yGuWvf5k=", method: .post,
            target: "/myhub/messages/?direct&api-version=2015-04"),
    ]

    private static let rule = AccessRule(
        name: "rule", rights: .send, primaryKey: "c2VjcmV0LWtleQ==", secondaryKey: "other",
        createdAt: HubFixture.start, modifiedAt: HubFixture.start)

    @Test("Trap 8: the raw sr of every client's style is what was signed, and covers its request", arguments: vectors)
    func everyStyleIsVerified(vector: Vector) throws {
        let header =
            "SharedAccessSignature sr=\(vector.resource)&sig=\(PercentEncoding.encode(vector.signature))"
            + "&se=1893456000&skn=rule"
        let token = try #require(SharedAccessSignature(header: header))
        #expect(try token.isSigned(by: Self.rule))
        let target = try #require(HTTPTarget(vector.target))
        let audience = try #require(token.audience)
        #expect(audience.covers(target.segments, at: ["localhost"], isID: { $0 == 2 }))
        #expect(!audience.covers(target.segments, at: ["elsewhere"], isID: { $0 == 2 }))
    }

    @Test("Trap 9: a sig whose plus signs and slashes are raw is read as it is")
    func aRawSignatureIsRead() throws {
        let vector = Self.vectors[3]
        let header =
            "SharedAccessSignature sr=\(vector.resource)&sig=\(vector.signature)&se=1893456000&skn=rule"
        #expect(try #require(SharedAccessSignature(header: header)).isSigned(by: Self.rule))
    }

    @Test("Trap 9: the key is text and is not decoded from Base64")
    func theKeyIsText() throws {
        let vector = Self.vectors[2]
        let header =
            "SharedAccessSignature sr=\(vector.resource)&sig=\(vector.signature)&se=1893456000&skn=rule"
        var rule = Self.rule
        rule.primaryKey = "secret-key"
        #expect(try #require(SharedAccessSignature(header: header)).isSigned(by: rule) == false)
    }

    @Test("Trap 10: fields come in any order, and the secondary key signs too")
    func anyOrderAndTheSecondaryKey() throws {
        let vector = Self.vectors[5]
        let header =
            "sharedaccesssignature sig=\(PercentEncoding.encode(vector.signature))&se=1893456000&skn=rule"
            + "&sr=\(vector.resource)"
        var rule = Self.rule
        (rule.primaryKey, rule.secondaryKey) = (rule.secondaryKey, rule.primaryKey)
        #expect(try #require(SharedAccessSignature(header: header)).isSigned(by: rule))
    }

    @Test func aRuleWithoutAKeySignsNothing() throws {
        let header = try HubFixture.token("rule", key: "")
        var rule = Self.rule
        rule.secondaryKey = ""
        #expect(try #require(SharedAccessSignature(header: header)).isSigned(by: rule) == false)
    }

    @Test(arguments: [
        "", "SharedAccessSignature", "SharedAccessSignature ", "SharedAccessSignature sr=a",
        "Bearer sr=a&sig=YQ%3D%3D&se=1&skn=b", "SharedAccessSignature sr=a&sig=YQ%3D%3D&se=x&skn=b",
        "SharedAccessSignature sr=a&sig=YQ%3D%3D&se=-1&skn=b", "SharedAccessSignature sr=a&sig=YQ%3D%3D&se=&skn=b",
        "SharedAccessSignature sr=a&sig=YQ%3D%3D&se=99999999999999999999&skn=b",
        "SharedAccessSignature sr=a&sig=%zz&se=1&skn=b", "SharedAccessSignature sr=a&sig=!&se=1&skn=b",
        "SharedAccessSignature sr=a&sig=YQ%3D%3D&se=1&skn=%ff",
        "SharedAccessSignature sr=a&sr=b&sig=YQ%3D%3D&se=1&skn=b",
        "SharedAccessSignature sr&sig=YQ%3D%3D&se=1&skn=b",
    ])
    func invalidTokensAreNotRead(header: String) {
        #expect(SharedAccessSignature(header: header) == nil)
    }

    @Test func everyTruncationAndFlippedByteOfATokenIsRefusedAndNoneCrashes() async throws {
        let fixture = try await HubFixture()
        let header = try HubFixture.token("manage")
        // It is remembered from here on, and must not speak for its neighbours.
        #expect(try await fixture.send(.get, "/demo/registrations", fields: ["authorization": header]).status == .ok)
        let token = Array(header.utf8)
        for length in 0..<token.count {
            let response = try await fixture.send(
                .get, "/demo/registrations",
                fields: ["authorization": String(decoding: token.prefix(length), as: UTF8.self)])
            #expect(response.status == .unauthorized)
        }
        for index in token.indices {
            var changed = token
            changed[index] ^= 1
            let response = try await fixture.send(
                .get, "/demo/registrations", fields: ["authorization": String(decoding: changed, as: UTF8.self)])
            // The word of the scheme has no case, and unused fields are passed over: nothing else may pass.
            #expect(response.status == .unauthorized, "byte \(index)")
        }
    }

    struct Audience: Sendable {
        let resource: String
        let isGood: Bool
    }

    @Test(
        "An audience is a host and a prefix of the path by whole segments",
        arguments: [
            Audience(resource: "https://hub.example:8443/", isGood: true),
            Audience(resource: "sb://hub.example", isGood: true),
            Audience(resource: "http://HUB.example/demo/", isGood: true),
            Audience(resource: "https://hub.example:1/DEMO/registrations?x=y#z", isGood: true),
            Audience(resource: "https://hub.example/demo/registrations/1-1-1", isGood: false),
            Audience(resource: "https://hub.example/dem", isGood: false),
            Audience(resource: "https://hub.example/other", isGood: false),
            Audience(resource: "https://hub.example.evil/", isGood: false),
            Audience(resource: "https://other/", isGood: false),
            Audience(resource: "https:///demo", isGood: false),
            Audience(resource: "https://user@hub.example/demo", isGood: false),
            Audience(resource: "https://@hub.example/", isGood: false),
            Audience(resource: "sb://user:word@hub.example:443/", isGood: false),
            Audience(resource: "https://hub.example:1@hub.example/", isGood: false),
            Audience(resource: "https://hub.example:1@other/", isGood: false),
            Audience(resource: "ftp://hub.example/", isGood: false),
            Audience(resource: "hub.example", isGood: false),
            Audience(resource: "", isGood: false),
        ])
    func anAudienceIsAHostAndAPrefix(audience: Audience) async throws {
        let fixture = try await HubFixture()
        let token = try HubFixture.token("manage", for: audience.resource)
        let response = try await fixture.send(.get, "/demo/registrations", fields: ["authorization": token])
        #expect(response.status == (audience.isGood ? .ok : .unauthorized))
        if !audience.isGood { #expect(response.text.contains("SubCode=40104")) }
    }

    @Test(
        "Ids keep their case, but where a client signs whole addresses in lower case",
        arguments: [
            ("https://hub.example/demo/installations/ABC", ["ABC"]),
            ("https://HUB.example/DEMO/Installations/abc", ["abc"]),
            ("https://hub.example/demo/installations/Abc/", []),
            ("https://hub.example/demo/installations/ABC?api-version=2020-06", ["ABC"]),
            // As the clients for Java, iOS and Android sign, and that for .NET.
            ("https://hub.example/demo/installations/abc?api-version=2020-06", ["ABC", "abc"]),
            ("http://hub.example/demo/installations/abc/", ["ABC", "abc"]),
            ("http://hub.example/demo/installations/abc", ["abc"]),
        ])
    func idsKeepTheirCase(resource: String, opened: [String]) async throws {
        let fixture = try await HubFixture()
        // The fixture's tokens are in lower case as a whole.
        let sent = PercentEncoding.encode(resource)
        let expiry = (HubFixture.start + .seconds(3600)).seconds
        let code = try HMACSHA256.authenticationCode(
            for: Array("\(sent)\n\(expiry)".utf8), key: Array(HubFixture.key.utf8))
        let signature = PercentEncoding.encode(Base64.encode(code))
        let token = "SharedAccessSignature sr=\(sent)&sig=\(signature)&se=\(expiry)&skn=manage"
        var found: [String] = []
        for id in ["ABC", "abc"] {
            let answer = try await fixture.send(
                .get, "/demo/installations/\(id)", fields: ["authorization": token])
            if answer.status != .unauthorized { found.append(id) }
        }
        #expect(found == opened)
        let tag = try HubFixture.token("manage", for: "https://hub.example/demo/tags/News")
        let listed = try await fixture.send(.get, "/demo/tags/news/registrations", fields: ["authorization": tag])
        #expect(listed.status == .ok)
    }

    @Test func anIPv6HostIsComparedWithoutItsPort() {
        #expect(TokenAudience("https%3a%2f%2f%5b::1%5d:8443%2f")?.host == "[::1]")
        #expect(TokenAudience.withoutPort("[::1]:80") == "[::1]")
        #expect(TokenAudience.withoutPort("[::1]") == "[::1]")
    }

    @Test func theConfiguredHostIsAnAudienceToo() async throws {
        let fixture = try await HubFixture(address: PublicAddress(HTTPOrigin("https://push.example")))
        let token = try HubFixture.token("manage", for: "https://push.example/demo")
        let response = try await fixture.send(.post, "/demo/registrationids", fields: ["authorization": token])
        #expect(response.fields["location"]?.hasPrefix("https://push.example/demo/registrationids/") == true)
    }

    @Test func anExpiredTokenIsRefusedAfterAMinuteOfGrace() async throws {
        let fixture = try await HubFixture()
        let token = try HubFixture.token("manage", expiry: HubFixture.start + .seconds(300))
        fixture.time.advance(by: .seconds(359))
        #expect(try await fixture.send(.get, "/demo/registrations", fields: ["authorization": token]).status == .ok)
        fixture.time.advance(by: .seconds(1))
        let response = try await fixture.send(.get, "/demo/registrations", fields: ["authorization": token])
        #expect(response.status == .unauthorized)
        #expect(response.text.contains("SubCode=40106"))
    }

    @Test func aWrongNameAndAWrongKeyGetTheSameAnswer() async throws {
        let fixture = try await HubFixture()
        let tokens = [try HubFixture.token("nobody"), try HubFixture.token("manage", key: "wrong")]
        for token in tokens {
            let response = try await fixture.send(.get, "/demo/registrations", fields: ["authorization": token])
            #expect(response.status == .unauthorized)
            #expect(response.text.contains("<Detail>InvalidSignature: The token has an invalid signature..TrackingId:"))
        }
    }

    struct Claim: Sendable {
        let method: HTTPMethod
        let target: String
        let rules: Set<String>
    }

    @Test(
        "Each operation needs its claim, and Manage implies the others",
        arguments: [
            Claim(method: .post, target: "/demo/registrationids", rules: ["listen", "manage"]),
            Claim(method: .post, target: "/demo/registrations", rules: ["listen", "manage"]),
            Claim(method: .put, target: "/demo/registrations/1", rules: ["listen", "manage"]),
            Claim(method: .get, target: "/demo/registrations/1", rules: ["listen", "manage"]),
            Claim(method: .delete, target: "/demo/registrations/1", rules: ["listen", "manage"]),
            Claim(
                method: .get, target: "/demo/registrations?$filter=ChannelUri+eq+'a'", rules: ["listen", "manage"]),
            Claim(method: .get, target: "/demo/registrations", rules: ["manage"]),
            Claim(method: .get, target: "/demo/tags/a/registrations", rules: ["manage"]),
            Claim(method: .post, target: "/demo/messages", rules: ["send", "manage"]),
            Claim(method: .get, target: "/demo/messages/1", rules: ["manage"]),
        ])
    func eachOperationNeedsItsClaim(claim: Claim) async throws {
        let fixture = try await HubFixture()
        for rule in ["listen", "send", "manage"] {
            let response = try await fixture.send(claim.method, claim.target, as: rule)
            #expect((response.status == .forbidden) != claim.rules.contains(rule), "\(rule)")
            if response.status == .forbidden { #expect(response.bytes.isEmpty) }
        }
    }
}
