import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

@testable import MartletBackend

/// A device that decrypts, as one that is registered.
struct SealingDevice {
    static let label = "WebPush: info"

    let id: String
    let receiver: MessageReceiver

    var key: DeviceKey { DeviceKey(publicKey: receiver.privateKey.publicKey.rawPoint, authSecret: receiver.secret) }

    /// What a sender encrypts for it.
    func ciphertext(_ text: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try MessageEncryptor(label: Self.label)
            .encrypt(Array(text.utf8), for: key.publicKey, secret: key.authSecret, to: &bytes)
        return bytes
    }

    func open(_ ciphertext: [UInt8]) throws -> String? {
        guard let content = EncryptedContent(ciphertext) else { return nil }
        return String(decoding: try receiver.decrypt(content, label: Self.label), as: UTF8.self)
    }

    /// The ciphertext as it is sent.
    func entry(_ text: String, fingerprint: [UInt8]? = nil) throws -> JSON {
        [
            "device": .string(id), "fingerprint": .string(Base64URL.encode(fingerprint ?? key.fingerprint)),
            "ciphertext": .string(Base64.encode(try ciphertext(text))),
        ]
    }
}

extension Fixture {
    /// Registers a handle with a new key.
    func registerKeyed(
        _ handle: String, as user: String, platform: String = "pigeon", id: String? = nil
    ) async throws -> SealingDevice {
        let known = try await newID(as: user)
        let device = SealingDevice(id: id ?? known, receiver: try MessageReceiver.generate())
        let body: JSON = [
            "Platform": .string(platform), "Handle": .string(handle),
            "PublicKey": .string(Base64URL.encode(device.key.publicKey)),
            "AuthSecret": .string(Base64URL.encode(device.key.authSecret)),
        ]
        _ = await ask(.put, "/api/register/" + device.id, as: user, body.text)
        return device
    }

    func keys(of user: String, as caller: String) async throws -> [JSON] {
        try await ask(.get, "/api/users/\(user)/keys", as: caller).json["devices"]?.array ?? []
    }

    func sendEncrypted(
        _ ciphertexts: [JSON], to user: String, as sender: String, _ members: [String: JSON] = [:]
    ) async -> HTTPResponse {
        var body: [String: JSON] = ["to": .string(user), "ciphertexts": .array(ciphertexts)]
        body.merge(members) { $1 }
        return await ask(.post, "/api/notifications/encrypted", as: sender, JSON.object(body).text)
    }
}
