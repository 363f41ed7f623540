import MartletClient
import MartletOpenSSL
import Testing

struct OpenSSLCryptographyTests {
    private let cryptography = OpenSSLCryptography()

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    @Test func twoKeysAgree() throws {
        let (alice, bob) = (try cryptography.makePrivateKey(), try cryptography.makePrivateKey())
        #expect(alice != bob)
        #expect(alice.count == 32)
        let (aliceOpenly, bobOpenly) = (try cryptography.publicKey(of: alice), try cryptography.publicKey(of: bob))
        #expect(aliceOpenly.count == 65)
        #expect(
            try cryptography.sharedSecret(of: alice, and: bobOpenly)
                == cryptography.sharedSecret(of: bob, and: aliceOpenly))
    }

    /// The second example of the GCM specification that has a plaintext (McGrew and Viega, test case 2).
    @Test func thePublishedBlockIsSealedAndOpened() throws {
        let (key, nonce) = ([UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 12))
        let block = [UInt8](repeating: 0, count: 16)
        let sealed = try cryptography.seal(block, key: key, nonce: nonce)
        #expect(hex(sealed) == "0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf")
        #expect(try cryptography.open(sealed, key: key, nonce: nonce) == block)
        #expect(throws: ClientCryptographyError.notAuthentic) {
            try cryptography.open(sealed.dropLast(), key: key, nonce: nonce)
        }
        #expect(throws: ClientCryptographyError.notAuthentic) { try cryptography.open([], key: key, nonce: nonce) }
    }

    /// FIPS 180-2, appendix B.1, and RFC 4231, test case 2.
    @Test func thePublishedHashesAreMade() throws {
        #expect(
            hex(cryptography.sha256(Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hex(try cryptography.hmacSHA256(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test func keysOfAWrongLengthAreRefused() {
        #expect(throws: ClientCryptographyError.malformedKey) { try cryptography.publicKey(of: [1]) }
        #expect(throws: ClientCryptographyError.malformedKey) {
            try cryptography.publicKey(of: [UInt8](repeating: 0, count: 32))
        }
        #expect(throws: ClientCryptographyError.malformedKey) { try cryptography.seal([], key: [1], nonce: []) }
        #expect(throws: ClientCryptographyError.malformedKey) {
            try cryptography.open([], key: [UInt8](repeating: 0, count: 16), nonce: [1])
        }
    }
}
