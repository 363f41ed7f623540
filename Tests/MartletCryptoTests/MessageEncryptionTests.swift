import Testing

@testable import MartletCrypto

struct MessageEncryptionTests {
    private let label = "WebPush: info"
    /// The example of RFC 8291, section 5 and appendix A.
    private let text = Array("When I grow up, I want to be a watermelon".utf8)
    private let senderKey = bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")
    private let receiverKey = bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94")
    private let receiverPoint = bytes(
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
    private let salt = bytes("DGv6ra1nlYgDCS1FRnbzlw")
    private let secret = bytes("BTBZMqHH6r4Tts7J_aSIgg")
    private let body = bytes(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )

    @Test func thePublishedMessageIsMade() throws {
        var output: [UInt8] = [7]
        let isDone = try MessageEncryptor(label: label).encrypt(
            text, for: receiverPoint, secret: secret, scalar: senderKey, salt: salt, to: &output)
        #expect(isDone)
        #expect(output == [7] + body)
    }

    @Test func thePublishedMessageIsRead() throws {
        let receiver = MessageReceiver(privateKey: try P256PrivateKey(rawScalar: receiverKey), secret: secret)
        #expect(try receiver.decrypt(#require(EncryptedContent(body)), label: label) == text)
    }

    @Test func theKeyAgreementIsThePublishedOne() throws {
        let agreed = try P256Agreement().sharedSecret(senderKey, receiverPoint)
        #expect(agreed == bytes("kyrL1jIIOHEzg3sM2ZWRHDRB62YACZhhSlknJ672kSs"))
    }

    @Test(arguments: [0, 1, 3993, 4079]) func everyMessageHasItsOwnKeyAndSalt(length: Int) throws {
        let receiver = try MessageReceiver.generate()
        let encryptor = try MessageEncryptor(label: label)
        let message = [UInt8](repeating: 0x61, count: length)
        var seen: Set<[UInt8]> = []
        for _ in 0..<20 {
            var output: [UInt8] = []
            try encryptor.encrypt(
                message, for: receiver.privateKey.publicKey.rawPoint, secret: receiver.secret, to: &output)
            #expect(output.count == length + MessageEncryptor.overhead)
            let content = try #require(EncryptedContent(output))
            #expect(try receiver.decrypt(content, label: label) == message)
            seen.insert(content.salt)
            seen.insert(content.keyID)
        }
        #expect(seen.count == 40)
    }

    @Test func oneByteMoreThanARecordTakesIsRefused() throws {
        var output: [UInt8] = []
        #expect(throws: CryptoError.wrongLength(expected: 4079, actual: 4080)) {
            try MessageEncryptor(label: label).encrypt(
                [UInt8](repeating: 0, count: 4080), for: receiverPoint, secret: secret, to: &output)
        }
        #expect(output.isEmpty)
    }

    @Test func pointsOffTheCurveAreRefused() throws {
        var wrong = receiverPoint
        wrong[64] ^= 1
        let compressed = [3] + receiverPoint[1..<33]
        let infinity = [4] + [UInt8](repeating: 0, count: 64)
        // Coordinates that are not below the field's prime.
        let overflowing = [4] + [UInt8](repeating: 0xFF, count: 64)
        #expect(P256PublicKey.isValid(rawPoint: receiverPoint))
        for point in [wrong, compressed, infinity, overflowing, [], [0]] {
            #expect(!P256PublicKey.isValid(rawPoint: point))
            var output: [UInt8] = []
            #expect(throws: CryptoError.malformedPublicKey) {
                try MessageEncryptor(label: label).encrypt(text, for: point, secret: secret, to: &output)
            }
            #expect(output.isEmpty)
        }
    }

    @Test func scalarsOutsideTheGroupAreNoKeys() throws {
        let agreement = try P256Agreement()
        #expect(try agreement.publicPoint(of: [UInt8](repeating: 0, count: 32)) == nil)
        #expect(try agreement.publicPoint(of: [UInt8](repeating: 0xFF, count: 32)) == nil)
        #expect(throws: CryptoError.malformedPrivateKey) {
            try agreement.sharedSecret([UInt8](repeating: 0, count: 32), receiverPoint)
        }
    }

    @Test func aMessageForSomebodyElseIsNotRead() throws {
        let content = try #require(EncryptedContent(body))
        let other = MessageReceiver(
            privateKey: try P256PrivateKey(rawScalar: receiverKey), secret: [UInt8](repeating: 1, count: 16))
        #expect(throws: CryptoError.authenticationFailed) { try other.decrypt(content, label: label) }
        #expect(throws: CryptoError.authenticationFailed) {
            try MessageReceiver.generate().decrypt(content, label: label)
        }
    }

    /// RFC 8292, section 2.4.
    @Test func thePublishedProofOfASenderVerifies() throws {
        let signed =
            "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3Njgs"
            + "InN1YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0"
        let signature = "i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjvW2L9OkSSHzvoD1oA"
        let key = try P256PublicKey(
            rawPoint: bytes("BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"))
        #expect(key.isValid(bytes(signature), for: Array(signed.utf8)))
    }
}
