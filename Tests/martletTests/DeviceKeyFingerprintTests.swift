import MartletClient
import MartletCrypto
import MartletOpenSSL
import Testing

@testable import MartletServer

struct DeviceKeyFingerprintTests {
    @Test func theConsoleShowsTheFingerprintThatTheDeviceShows() throws {
        let cryptography = OpenSSLCryptography()
        for _ in 0..<20 {
            let key = try DeviceKeyPair.generate(cryptography).key
            let text = DeviceKeyFingerprint.text(of: key.publicKey + key.authSecret)
            #expect(try text == KeyFingerprint(of: key, cryptography).description)
        }
    }
}
