import MartletCrypto
import MartletOpenSSL
import Testing

@testable import MartletClient

struct MessageCodingTests {
    private static let cryptography = OpenSSLCryptography()
    private let coding = MessageCoding(Self.cryptography)
    /// The example of RFC 8291, section 5 and appendix A.
    private let text = Array("When I grow up, I want to be a watermelon".utf8)
    private let senderKey = Self.bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
    private let salt = Self.bytes("DGv6ra1nlYgDCS1FRnbzlw")
    private let receiver = DeviceKeyPair(
        privateKey: Self.bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"),
        key: DeviceKey(
            publicKey: Self.bytes(
                "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
            authSecret: Self.bytes("BTBZMqHH6r4Tts7J_aSIgg"))!)
    private let body = Self.bytes(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )

    private static func bytes(_ text: String) -> [UInt8] { MartletClient.Base64.urlSafe.decode(text) ?? [] }

    private func refusal(_ content: [UInt8], _ keyPair: DeviceKeyPair? = nil) -> MessageCodingError? {
        do throws(MessageCodingError) {
            _ = try coding.decrypt(content, with: keyPair ?? receiver)
            return nil
        } catch {
            return error
        }
    }

    @Test func thePublishedMessageIsMade() throws {
        #expect(try coding.encrypt(text, for: receiver.key, sender: senderKey, salt: salt, padding: 0) == body)
    }

    @Test func thePublishedMessageIsRead() throws {
        #expect(try coding.decrypt(body, with: receiver) == text)
    }

    @Test(arguments: [0, 1, 153, 154, 1945, 1946, 3990, 30_000, MessageCoding.messageLimit])
    func messagesComeBackAndHaveOneOfNineLengths(length: Int) throws {
        let keyPair = try DeviceKeyPair.generate(Self.cryptography)
        let message = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        let content = try coding.encrypt(message, for: keyPair.key)
        #expect(try coding.decrypt(content, with: keyPair) == message)
        #expect([256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536].contains(content.count))
        #expect(content.count < 2 * (length + MessageCoding.overhead) || content.count == 256)
    }

    @Test func messagesThatEndInZerosOrDelimitersComeBack() throws {
        for message in [[0], [2], [0, 2, 0, 0], [2, 2]] as [[UInt8]] {
            #expect(try coding.decrypt(try coding.encrypt(message, for: receiver.key), with: receiver) == message)
        }
    }

    @Test func everyMessageHasItsOwnKeyAndSalt() throws {
        let contents = try (0..<20).map { _ in try coding.encrypt(text, for: receiver.key) }
        #expect(Set(contents.map { Array($0[..<16]) }).count == 20)
        #expect(Set(contents.map { Array($0[21..<86]) }).count == 20)
    }

    @Test(arguments: [0, 41, 3000]) func theServersOwnCodingReadsIt(length: Int) throws {
        let keyPair = try DeviceKeyPair.generate(Self.cryptography)
        let message = [UInt8](repeating: 0x61, count: length)
        let content = try #require(EncryptedContent(try coding.encrypt(message, for: keyPair.key)))
        let peer = MessageReceiver(
            privateKey: try P256PrivateKey(rawScalar: keyPair.privateKey), secret: keyPair.key.authSecret)
        #expect(try peer.decrypt(content, label: "WebPush: info") == message)
    }

    @Test(arguments: [0, 41, 4079]) func theServersOwnCodingIsRead(length: Int) throws {
        let keyPair = try DeviceKeyPair.generate(Self.cryptography)
        let message = [UInt8](repeating: 0x61, count: length)
        var content: [UInt8] = []
        try MessageEncryptor(label: "WebPush: info").encrypt(
            message, for: keyPair.key.publicKey, secret: keyPair.key.authSecret, to: &content)
        #expect(try coding.decrypt(content, with: keyPair) == message)
    }

    @Test func aMessageChangedAnywhereIsRefused() throws {
        for index in body.indices {
            var changed = body
            changed[index] ^= 1
            // The record size is not authenticated; it only has to be large enough for the one record.
            let isRecordSize = (16..<20).contains(index)
            #expect((refusal(changed) == nil) == isRecordSize, "byte \(index)")
        }
        var record = body
        record[body.count - 1] ^= 1
        #expect(refusal(record) == .notAuthentic)
        var sender = body
        sender[85] ^= 1
        #expect(refusal(sender) == .malformedKey)
        var length = body
        length[20] = 64
        #expect(refusal(length) == .malformed)
    }

    @Test func truncatedInputIsRefused() {
        for count in 0..<body.count {
            let error = refusal(Array(body.prefix(count)))
            #expect(error == (count < MessageCoding.overhead ? .truncated : .notAuthentic), "\(count) bytes")
        }
        #expect(refusal(body + [0]) == .notAuthentic)
    }

    @Test func anotherKeyOrSecretReadsNothing() throws {
        #expect(refusal(body, try DeviceKeyPair.generate(Self.cryptography)) == .notAuthentic)
        let secret = try #require(
            DeviceKey(publicKey: receiver.key.publicKey, authSecret: [UInt8](repeating: 1, count: 16)))
        #expect(refusal(body, DeviceKeyPair(privateKey: receiver.privateKey, key: secret)) == .notAuthentic)
        let unfit = DeviceKeyPair(privateKey: [UInt8](repeating: 0xFF, count: 32), key: receiver.key)
        #expect(refusal(body, unfit) == .malformedKey)
    }

    @Test func recordsOfOtherSizesAreRefused() {
        func withRecordSize(_ size: UInt8) -> [UInt8] { body[..<16] + [0, 0, 0, size] + body[20...] }
        // The record has 58 bytes.
        #expect(refusal(withRecordSize(58)) == nil)
        #expect(refusal(withRecordSize(57)) == .severalRecords)
        #expect(refusal(withRecordSize(17)) == .malformed)
        #expect(refusal([UInt8](repeating: 65, count: 65_537)) == .tooLong)
    }

    @Test(arguments: [[0, 0], [1], [0x61, 1, 0], [0x61]] as [[UInt8]])
    func paddingWithoutTheLastRecordsDelimiterIsRefused(plaintext: [UInt8]) throws {
        #expect(refusal(try sealed(plaintext)) == .malformed)
    }

    /// An authentic record of any plaintext, by the server's own parts.
    private func sealed(_ plaintext: [UInt8]) throws -> [UInt8] {
        let header = body[..<86]
        let agreed = try Self.cryptography.sharedSecret(of: senderKey, and: receiver.key.publicKey)
        let material = try HKDF.derive(
            32, from: agreed, salt: receiver.key.authSecret,
            info: Array("WebPush: info\u{0}".utf8) + receiver.key.publicKey + header[21...])
        let key = try HKDF.derive(16, from: material, salt: salt, info: Array("Content-Encoding: aes128gcm\u{0}".utf8))
        let nonce = try HKDF.derive(12, from: material, salt: salt, info: Array("Content-Encoding: nonce\u{0}".utf8))
        return header + (try AES128GCM.seal(plaintext, key: key, nonce: nonce))
    }

    @Test func oneByteTooManyIsNotEncrypted() {
        let message = [UInt8](repeating: 0, count: MessageCoding.messageLimit + 1)
        #expect(throws: MessageCodingError.tooLong) { try coding.encrypt(message, for: receiver.key) }
    }

    @Test func nothingIsEncryptedForAPointOffTheCurve() throws {
        var point = receiver.key.publicKey
        point[64] ^= 1
        let key = try #require(DeviceKey(publicKey: point, authSecret: receiver.key.authSecret))
        #expect(throws: MessageCodingError.malformedKey) { try coding.encrypt(text, for: key) }
    }
}
