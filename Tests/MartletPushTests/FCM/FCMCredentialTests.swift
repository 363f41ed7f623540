import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct FCMCredentialTests {
    private func refusal(_ changes: [String: String?]) throws -> String? {
        var properties = try FCMFixture().credential.properties
        for (name, value) in changes { properties[name] = value }
        do throws(PushServiceError) {
            _ = try FCM(credential: Credential(properties))
            return nil
        } catch {
            #expect(error.kind == .badCredential)
            return error.description
        }
    }

    @Test func theThreePropertiesOfTheOriginalHubAreEnough() throws {
        let own = ["Endpoint", "TokenEndpoint", "EndpointCertificateAuthority"]
        #expect(try refusal(Dictionary(uniqueKeysWithValues: own.map { ($0, nil) })) == nil)
        let shown = FCM.descriptor.credential.fields.filter { !$0.isExtension }
        #expect(Set(shown.map(\.name)) == ["ProjectId", "PrivateKey", "ClientEmail"])
        #expect(shown.filter(\.isSecret).map(\.name) == ["PrivateKey"])
    }

    @Test func aKeyMayHaveItsLineBreaksAsTheFileOfTheAccountHasThem() throws {
        let pem = try #require(try FCMFixture().credential.properties["PrivateKey"])
        #expect(try refusal(["PrivateKey": pem.replacing("\n", with: #"\n"#)]) == nil)
    }

    @Test(arguments: [
        ("ProjectId", nil), ("ProjectId", "a/b"), ("ProjectId", ""), ("ClientEmail", "nobody"), ("ClientEmail", nil),
        ("PrivateKey", nil), ("PrivateKey", "secret"), ("Endpoint", "http://localhost"), ("Endpoint", "https://a/b"),
        ("TokenEndpoint", "nowhere"), ("TokenEndpoint", "https://a"), ("TokenEndpoint", "http://a/token"),
        ("EndpointCertificateAuthority", "x"), ("MessagesPerMinute", "0"), ("MessagesPerMinute", "many"),
    ])
    func missingAndUnusableFilesAreNamed(property: String, value: String?) throws {
        let sentence = try #require(try refusal([property: value]))
        #expect(sentence.hasPrefix(property))
        if let value, value.count > 4 { #expect(!sentence.contains(value)) }
    }

    @Test func aKeyOfAnotherKindIsRefused() throws {
        #expect(try refusal(["PrivateKey": P256PrivateKey.generate().pem()])?.contains("RSA") == true)
    }

    @Test func theAddressesOfAnAccountsFileLeadToPublicAddressesUnlessAnAuthorityIsNamed() throws {
        let authority = try CertificateAuthority.generate(commonName: "CA", now: 1_700_000_000)
        var credential = try FCMFixture().credential
        credential.properties["TokenEndpoint"] = "https://10.0.0.5/token"
        credential.properties["EndpointCertificateAuthority"] = try authority.identity.certificatePEM()
        #expect(try FCMCredential(credential).tokenSettings.addresses == .any)
        credential.properties["EndpointCertificateAuthority"] = nil
        credential.properties["Endpoint"] = nil
        #expect(try FCMCredential(credential).tokenSettings.addresses == .publicOnly)
        #expect(try FCMCredential(credential).settings.addresses == .any, "Google's own address")
    }

    @Test func theFileOfAServiceAccountHasEverythingThatIsAskedFor() {
        let members = FCM.descriptor.credential.fields.compactMap { field in
            field.fileMember.map { "\(field.name) \($0.flag) \($0.member)" }
        }
        #expect(
            Set(members) == [
                "PrivateKey service-account-file private_key", "ProjectId service-account-file project_id",
                "ClientEmail service-account-file client_email", "TokenEndpoint service-account-file token_uri",
            ])
    }

    @Test func messagesOfOneProjectAreCountedTogetherAndTheQuotaIsASetting() throws {
        let fixture = try FCMFixture()
        #expect(fixture.service.pace?.messagesPerMinute == 600_000)
        var credential = fixture.credential
        credential.properties["MessagesPerMinute"] = "60"
        #expect(try FCM(credential: credential).pace?.messagesPerMinute == 60)
        #expect(try LegacyFCM(credential: fixture.credential).pace == fixture.service.pace)
        #expect(LegacyFCM.descriptor.credentialPlatform == FCM.descriptor.platform)
    }
}
