import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletPush

/// One platform's credential and devices as the sink knows them.
struct PlatformSample {
    static let names = ["apns", "fcmv1", "wns", "mpns", "browser", "adm"]
    private static let deviceCount: UInt64 = 20_000

    let service: any PushService
    /// As long and of the same form as the service's own.
    let handles: [PushHandle]
    /// What a service gives who asks for a token, where requests need one that is given.
    let grantedToken: String

    /// - Parameter authority: What to trust, as PEM text.
    init(_ name: String, port: UInt16, authority: String) throws {
        guard Self.names.contains(name), let type = PushPlatforms.all.service(PlatformID(rawValue: name)) else {
            LoadGenerator.fail("not one of \(Self.names.joined(separator: ", ")): \(name)")
        }
        let address = "https://127.0.0.1:\(port)"
        var properties = try Self.properties(name, address: address)
        properties["EndpointCertificateAuthority"] = authority
        service = try type.init(credential: Credential(properties))
        handles = try (0..<Self.deviceCount).map { try Self.handle(name, device: $0, address: address) }
        grantedToken = Self.text(1, length: name == "adm" ? 360 : 220)
    }

    private static func properties(_ name: String, address: String) throws -> [String: String] {
        switch name {
        case "apns":
            [
                "Token": try P256PrivateKey.generate().pem(), "KeyId": "KEY1234567", "AppId": "TEAM123456",
                "AppName": "com.example.app", "Endpoint": address,
            ]
        case "fcmv1":
            [
                "PrivateKey": try RSAPrivateKey.generate().pem(), "ProjectId": "martlet-example",
                "ClientEmail": "push@martlet-example.iam.gserviceaccount.com", "Endpoint": address,
            ]
        case "wns": ["PackageSid": "ms-app://s-1-15-2-1234567890", "SecretKey": "secret"]
        case "browser":
            try WebPush.generatedCredential().merging(
                ["Subject": "mailto:push@example.com", "AllowedHosts": "127.0.0.1"]
            ) { $1 }
        case "adm":
            [
                "ClientId": "amzn1.application-oa2-client.1234567890", "ClientSecret": "secret",
                "SendUrlTemplate": "\(address)/messaging/registrations/{0}/messages",
            ]
        default: [:]
        }
    }

    private static func handle(_ name: String, device: UInt64, address: String) throws -> PushHandle {
        switch name {
        case "apns": PushHandle(text(device, length: 64))
        case "fcmv1": PushHandle(text(device, length: 22) + ":APA91b" + text(device, length: 134))
        case "wns": PushHandle("\(address)/?token=AwYAAAB" + text(device, length: 120) + "%3d")
        case "mpns": PushHandle("\(address)/throttledthirdparty/01.00/" + text(device, length: 64))
        case "browser":
            PushHandle(
                "\(address)/wpush/v2/gAAAAA" + text(device, length: 178),
                Base64URL.encode(try P256PrivateKey.generate().publicKey.rawPoint),
                text(device, length: 22))
        default: PushHandle("amzn1.adm-registration.v3." + text(device, length: 200))
        }
    }

    /// Letters and digits that look random and are the same in every run.
    private static func text(_ device: UInt64, length: Int) -> String {
        var bytes: [UInt8] = []
        for part in 0..<UInt64((length + 63) / 64) { Digits.appendToken(device * 8 + part, to: &bytes) }
        // What base64url of 16 bytes ends with has four bits without meaning, which are zero.
        if length == 22 { bytes[21] = UInt8(ascii: "A") }
        return String(decoding: bytes.prefix(length), as: UTF8.self)
    }
}
