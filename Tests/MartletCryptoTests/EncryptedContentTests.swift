import Testing

@testable import MartletCrypto

/// The published examples of RFC 8188 and RFC 8291.
struct EncryptedContentTests {
    @Test func anExampleOfOneRecordIsOpened() throws {
        let content = try #require(
            EncryptedContent(
                bytes("I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")))
        #expect(content.recordSize == 4096 && content.keyID.isEmpty && content.isSingleRecord)
        let plaintext = try content.open(material: bytes("yqdlZ-tYemfogSmv7Ws5PQ"))
        #expect(String(decoding: plaintext, as: UTF8.self) == "I am the walrus")
    }

    @Test func anExampleOfTwoRecordsWithPaddingIsOpened() throws {
        let content = try #require(
            EncryptedContent(
                bytes(
                    "uNCkWiNYzKTnBN9ji3-qWAAAABkCYTHOG8chz_gnvgOqdGYovxyjuqRyJFjEDyoF1Fvkj6hQPdPHI51OEUKEpgz3SsLWIqS_uA"
                )
            ))
        #expect(content.recordSize == 25 && content.keyID == Array("a1".utf8) && !content.isSingleRecord)
        let plaintext = try content.open(material: bytes("BO3ZVPxUlnLORbVGMpbT1Q"))
        #expect(String(decoding: plaintext, as: UTF8.self) == "I am the walrus")
    }

    @Test func theKeysOfTheExamplesAreDerived() throws {
        let keys = try ContentKeys(
            material: bytes("BO3ZVPxUlnLORbVGMpbT1Q"), salt: bytes("uNCkWiNYzKTnBN9ji3-qWA"), HMACContext())
        #expect(keys.key == bytes("u_eEOTjjVWUVrH82pQNwpw"))
        #expect(keys.nonce(0) == bytes("VqylG1rdt-mJrNgP"))
        #expect(keys.nonce(0x0102)[10...] == [keys.nonce(0)[10] ^ 1, keys.nonce(0)[11] ^ 2])
    }

    @Test func recordsThatAreMissingOrChangedAreNoticed() throws {
        let whole = bytes(
            "uNCkWiNYzKTnBN9ji3-qWAAAABkCYTHOG8chz_gnvgOqdGYovxyjuqRyJFjEDyoF1Fvkj6hQPdPHI51OEUKEpgz3SsLWIqS_uA")
        let material = bytes("BO3ZVPxUlnLORbVGMpbT1Q")
        let header = 23
        // Without the second record the first is not marked as the last.
        for damaged in [Array(whole.prefix(header + 25)), Array(whole.prefix(header)), Array(whole.dropLast())] {
            let content = try #require(EncryptedContent(damaged))
            #expect(throws: CryptoError.authenticationFailed) { try content.open(material: material) }
        }
        for index in header..<whole.count {
            var changed = whole
            changed[index] ^= 1
            let content = try #require(EncryptedContent(changed))
            #expect(throws: CryptoError.authenticationFailed) { try content.open(material: material) }
        }
    }

    @Test func ciphertextWithoutAHeaderIsRefused() {
        #expect(EncryptedContent([]) == nil)
        #expect(EncryptedContent([UInt8](repeating: 0, count: 20)) == nil)
        var header = [UInt8](repeating: 0, count: 16) + [0, 0, 0, 17, 0]
        #expect(EncryptedContent(header) == nil, "a record of 17 bytes has no room for data")
        header[19] = 18
        #expect(EncryptedContent(header) != nil)
        header[20] = 1
        #expect(EncryptedContent(header) == nil, "the key id is cut off")
    }
}

func bytes(_ base64URL: String) -> [UInt8] { Base64URL.decode(base64URL) ?? [] }
