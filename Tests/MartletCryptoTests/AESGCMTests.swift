import Testing

@testable import MartletCrypto

struct AESGCMTests {
    /// Test case 16 of the GCM specification: 256-bit key, associated data, a message that does not fill its last block.
    @Test func sealingFollowsTheSpecificationsVector() throws {
        let key = try #require(Hex.decode("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
        let plaintext = try #require(
            Hex.decode(
                "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                    + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"))
        let associated = try #require(Hex.decode("feedfacedeadbeeffeedfacedeadbeefabaddad2"))
        let nonce = try #require(Hex.decode("cafebabefacedbaddecaf888"))
        let cipher = try AESGCM(key: SecretBytes(key))
        let box = try cipher.seal(plaintext, nonce: nonce, associatedData: associated)
        #expect(
            Hex.encode(box) == "cafebabefacedbaddecaf888"
                + "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                + "76fc6ece0f4e1768cddf8853bb2d551b")
        #expect(try cipher.open(box, associatedData: associated) == plaintext)
    }

    @Test(arguments: [0, 1, 16, 1_000])
    func sealedBoxesOpenAgain(count: Int) throws {
        let cipher = try AESGCM(key: SecretBytes(RandomBytes.generate(32)))
        let plaintext = RandomBytes.generate(count)
        let box = try cipher.seal(plaintext, associatedData: [1, 2])
        #expect(box.count == count + AESGCM.overhead)
        #expect(try cipher.open(box, associatedData: [1, 2]) == plaintext)
        #expect(try cipher.seal(plaintext, associatedData: [1, 2]) != box)
    }

    @Test func anyChangedByteIsNoticed() throws {
        let cipher = try AESGCM(key: SecretBytes(RandomBytes.generate(32)))
        let box = try cipher.seal(Array("attack at dawn".utf8), associatedData: [7])
        for index in box.indices {
            var changed = box
            changed[index] ^= 1
            #expect(throws: CryptoError.authenticationFailed) { try cipher.open(changed, associatedData: [7]) }
        }
        #expect(throws: CryptoError.authenticationFailed) { try cipher.open(box, associatedData: [8]) }
        #expect(throws: CryptoError.authenticationFailed) { try cipher.open(Array(box.prefix(27))) }
        let other = try AESGCM(key: SecretBytes(RandomBytes.generate(32)))
        #expect(throws: CryptoError.authenticationFailed) { try other.open(box, associatedData: [7]) }
    }

    @Test func aKeyHasThirtyTwoBytes() {
        #expect(throws: CryptoError.wrongLength(expected: 32, actual: 16)) {
            try AESGCM(key: SecretBytes([UInt8](repeating: 0, count: 16)))
        }
    }
}
