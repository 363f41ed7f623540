import MartletCrypto
import Testing

struct EncodingTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func base64FollowsTheVectorsOfRFC4648(plain: String, encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
        let unpadded = encoded.filter { $0 != "=" }
        #expect(Base64URL.encode(Array(plain.utf8)) == unpadded)
        #expect(Base64URL.decode(unpadded) == Array(plain.utf8))
    }

    @Test func everyByteSurvivesEachEncoding() {
        let bytes = (0...255).map { UInt8($0) }
        for length in 0...bytes.count {
            let part = Array(bytes.suffix(length))
            #expect(Base64.decode(Base64.encode(part)) == part)
            #expect(Base64URL.decode(Base64URL.encode(part)) == part)
            #expect(Hex.decode(Hex.encode(part)) == part)
        }
    }

    @Test func theURLSafeAlphabetReplacesPlusAndSlash() {
        #expect(Base64.encode([0xFB, 0xFF, 0xFE]) == "+//+")
        #expect(Base64URL.encode([0xFB, 0xFF, 0xFE]) == "-__-")
        #expect(Base64URL.decode("+//+") == nil)
        #expect(Base64.decode("-__-") == nil)
    }

    @Test(arguments: ["Zg=", "Zg", "Z", "Zg===", "Zh==", "Zm9=", "=", "====", "Zm9v\n", " Zm9v", "Zg==Zg==", "Zé=="])
    func base64RefusesWhatItWouldNotWrite(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: ["Zg==", "Z", "Zh", "Zm9v\n", "Zm 9v"])
    func base64URLRefusesWhatItWouldNotWrite(text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test func hexIsWrittenInLowerCaseAndReadInBoth() {
        #expect(Hex.encode([0x00, 0xAB, 0xFF]) == "00abff")
        #expect(Hex.decode("00ABff") == [0x00, 0xAB, 0xFF])
        #expect(Hex.decode("0") == nil)
        #expect(Hex.decode("0g") == nil)
        #expect(Hex.decode("/0") == nil)
    }
}
