import MartletCore
import MartletCrypto
import MartletModel
import Testing

@testable import MartletPush

struct WebPushTests {
    private let endpoint = "https://push.example/abc"
    /// The keys of RFC 8291, section 5.
    private let point = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    private let secret = "BTBZMqHH6r4Tts7J_aSIgg"

    @Test func aSubscriptionIsKnownByItsEndpoint() throws {
        #expect(try WebPush.key(of: PushHandle("https://PUSH.example/abc", point, secret)) == endpoint)
        let padded = secret.replacing("_", with: "/") + "=="
        #expect(try WebPush.key(of: PushHandle(endpoint, point, padded)) == endpoint)
    }

    @Test func theKeyOfASubscriptionIsItsPointWithItsSecret() throws {
        let key = try #require(WebPush.encryptionKey(of: PushHandle(endpoint, point, secret + "==")))
        #expect(key.count == 65 + 16 && key.first == 4)
        #expect(Base64URL.encode(Array(key[65...])) == secret)
        #expect(WebPush.encryptionKey(of: PushHandle(endpoint)) == nil)
        #expect(APNs.encryptionKey(of: PushHandle("a")) == nil)
    }

    @Test func keysOfTheWrongSizeOrFormAreRefused() {
        for (p256dh, auth) in [
            (String(point.dropLast(2)), secret), ("Ag" + point.dropFirst(2), secret), (point, "BTBZ"), (point, "k…"),
        ] {
            #expect(throws: PushServiceError.self) { try WebPush.key(of: PushHandle(endpoint, p256dh, auth)) }
        }
    }

    @Test func aPointThatIsNotOnTheCurveIsRefused() {
        #expect(throws: PushServiceError.self) {
            try WebPush.key(of: PushHandle(endpoint, String(point.dropLast()) + "A", secret))
        }
    }

    @Test(arguments: ["0", "1", "22", "80", "1023"])
    func aPortOfAnotherServiceIsRefused(port: String) throws {
        let error = #expect(throws: PushServiceError.self) {
            try WebPush.key(of: PushHandle("https://push.example:\(port)/abc", point, secret))
        }
        #expect(
            error?.description
                == "The endpoint of a subscription has port 443, or 1024 and above; this one has \(port).")
        for port in ["443", "1024", "8443"] {
            #expect(throws: Never.self) {
                try WebPush.key(of: PushHandle("https://push.example:\(port)/abc", point, secret))
            }
        }
    }

    @Test func clearTextIsForThisMachineAlone() throws {
        for host in ["localhost:9", "127.0.0.1:9", "[::1]:9"] {
            #expect(try WebPush.key(of: PushHandle("http://\(host)/a", point, secret)) == "http://\(host)/a")
        }
        for host in ["push.example", "127.0.0.1.example", "127.1", "localhost.example", "10.0.0.1"] {
            #expect(throws: PushServiceError.self) {
                try WebPush.key(of: PushHandle("http://\(host)/a", point, secret))
            }
        }
    }

    @Test func aSubscriptionIsReadFromTheTextOfEitherForm() {
        let handle = PushHandle(endpoint, "p", "a")
        #expect(WebPush.handle(from: #"{"endpoint":"https://push.example/abc","p256dh":"p","auth":"a"}"#) == handle)
        let browsers =
            #"{"endpoint":"https://push.example/abc","expirationTime":null,"keys":{"p256dh":"p","auth":"a"}}"#
        #expect(WebPush.handle(from: browsers) == handle)
        #expect(WebPush.handle(from: endpoint) == PushHandle(endpoint))
    }
}
