import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

@testable import MartletPush

/// A credential of each kind and the small things that most tests of the service need.
enum APNsFixture {
    static let keyPEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAQIDBAUGBwgJCgsM
        DQ4PEBESExQVFhcYGRobHB0eHyChRANCAARRXD1uueOWuQTT/sp/VP3NDMHpl783
        XcpRWtCmw7QDX0U2vjpQ8xj7+aVHWQKiIVAr7w1X4IxTsswKVvF9n5NU
        -----END PRIVATE KEY-----

        """
    static let keyID = "ABC123DEFG"
    static let teamID = "DEF123GHIJ"
    static let bundleID = "com.example.app"
    static let token = String(repeating: "0123456789abcdef", count: 4)
    static let now = Timestamp(seconds: 1_700_000_000)
    static let alert = Array(#"{"aps":{"alert":"hello"}}"#.utf8)

    static func properties(_ changes: [String: String?] = [:]) -> Credential {
        var properties = ["Token": keyPEM, "KeyId": keyID, "AppId": teamID, "AppName": bundleID]
        for (name, value) in changes { properties[name] = value }
        return Credential(properties)
    }

    static func service(_ changes: [String: String?] = [:]) throws -> APNs {
        try APNs(credential: properties(changes))
    }

    /// Where pushes go.
    static func origin(_ changes: [String: String?]) throws -> HTTPOrigin {
        try service(changes).shared(message(), token: "t", expiry: now, at: now).origin
    }

    static func certificate(userID: String? = bundleID, now: Timestamp = now) throws -> CertificateIdentity {
        try CertificateAuthority.generate(commonName: "Push CA", now: Int(now.seconds))
            .issue(CertificateRequest(commonName: "Apple Push Services", userID: userID), now: Int(now.seconds))
    }

    static func certificateService() throws -> APNs {
        let identity = try certificate()
        return try APNs(
            credential: Credential([
                "ApnsCertificate": Base64.encode(try identity.pkcs12(password: "p")), "CertificateKey": "p",
            ]))
    }

    static func message(_ body: String = #"{"aps":{"alert":"hello"}}"#, _ fields: [String: String] = [:]) -> Message {
        Message(body: Array(body.utf8), fields: fields)
    }
}
