import MartletCrypto
import Testing

struct HashTests {
    @Test func sha256FollowsTheStandardsExamples() {
        #expect(
            Hex.encode(SHA256.hash([])) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            Hex.encode(SHA256.hash(Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    /// RFC 4231 sections 4.2, 4.3, 4.4 and 4.7: short, textual, binary, and a key longer than a block.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func hmacFollowsTheVectorsOfRFC4231(key: [UInt8], message: [UInt8], expected: String) throws {
        #expect(Hex.encode(try HMACSHA256.authenticationCode(for: message, key: key)) == expected)
    }

    @Test func aPreparedKeyGivesTheSameCodeEveryTime() throws {
        let key = try HMACSHA256(key: Array("Jefe".utf8))
        let message = Array("what do ya want for nothing?".utf8)
        let code = try key.authenticationCode(for: message)
        _ = try key.authenticationCode(for: [1, 2, 3])
        #expect(try key.authenticationCode(for: message) == code)
        #expect(try key.isValid(code, for: message))
        #expect(try !key.isValid(code, for: message + [0]))
        #expect(try !key.isValid(Array(code.dropLast()), for: message))
    }

    @Test func anEmptyKeyIsAKeyLikeAnyOther() throws {
        #expect(
            Hex.encode(try HMACSHA256.authenticationCode(for: [], key: []))
                == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test func hkdfFollowsTheVectorsOfRFC5869() throws {
        let secret = [UInt8](repeating: 0x0B, count: 22)
        let derived = try HKDF.derive(
            42, from: secret, salt: (0...12).map { UInt8($0) }, info: (0xF0...0xF9).map { UInt8($0) })
        #expect(
            Hex.encode(derived)
                == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
        let withoutSaltAndInfo = try HKDF.derive(42, from: secret, salt: [], info: [])
        #expect(
            Hex.encode(withoutSaltAndInfo)
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
    }

    @Test func hkdfRefusesMoreThanItCanDerive() {
        #expect(throws: CryptoError.wrongLength(expected: 8_160, actual: 8_161)) {
            try HKDF.derive(8_161, from: [1], salt: [], info: [])
        }
    }

    @Test func comparisonInConstantTimeIsStillComparison() {
        #expect(ConstantTime.areEqual([1, 2, 3], [1, 2, 3]))
        #expect(!ConstantTime.areEqual([1, 2, 3], [1, 2, 4]))
        #expect(!ConstantTime.areEqual([1, 2, 3], [1, 2]))
        #expect(ConstantTime.areEqual([], []))
        #expect(ConstantTime.areEqual("secret", "secret"))
        #expect(!ConstantTime.areEqual("secret", "Secret"))
    }

    @Test(arguments: [[], [0], [1, 63, 64, 65], [1000, 0, 24]])
    func theDigestOfPiecesIsThatOfTheWhole(lengths: [Int]) throws {
        let pieces = lengths.enumerated().map { [UInt8](repeating: UInt8($0.offset), count: $0.element) }
        let hasher = try SHA256Hasher()
        for piece in pieces { try hasher.update(piece) }
        #expect(try hasher.finish() == SHA256.hash(pieces.flatMap(\.self)))
    }
}
