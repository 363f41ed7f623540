import MartletCrypto
import Testing

struct P256Tests {
    private let pem = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAQIDBAUGBwgJCgsM
        DQ4PEBESExQVFhcYGRobHB0eHyChRANCAARRXD1uueOWuQTT/sp/VP3NDMHpl783
        XcpRWtCmw7QDX0U2vjpQ8xj7+aVHWQKiIVAr7w1X4IxTsswKVvF9n5NU
        -----END PRIVATE KEY-----

        """
    private let scalar = (1...32).map { UInt8($0) }
    private let point = "BFFcPW6545a5BNP-yn9U_c0MwemXvzddylFa0KbDtANfRTa-OlDzGPv5pUdZAqIhUCvvDVfgjFOyzApW8X2fk1Q"
    private let signingInput =
        "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyM0RFRkcifQ.eyJpc3MiOiJERUYxMjNHSElKIiwiaWF0IjoxNzAwMDAwMDAwfQ"
    private let signature = "qVLpi5CIFKU8CYUURsqvzDniTftfRuI2QP9_QGen806DF8rdGl0SAZSF0JAg921nMgaaIQ9xPB7LRmKAsFRKKw"

    @Test func aKeyIsTheSameInEveryForm() throws {
        let fromPEM = try P256PrivateKey(pem: pem)
        #expect(Base64URL.encode(fromPEM.publicKey.rawPoint) == point)
        #expect(try fromPEM.rawScalar() == SecretBytes(scalar))
        let fromScalar = try P256PrivateKey(rawScalar: scalar)
        #expect(fromScalar.publicKey == fromPEM.publicKey)
        #expect(try fromScalar.pem() == pem)
        let body = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        let fromPKCS8 = try P256PrivateKey(pkcs8: try #require(Base64.decode(body)))
        #expect(fromPKCS8.publicKey == fromPEM.publicKey)
        #expect(try P256PublicKey(pem: fromPEM.publicKey.pem()) == fromPEM.publicKey)
        #expect(try P256PublicKey(rawPoint: #require(Base64URL.decode(point))) == fromPEM.publicKey)
    }

    @Test func aKnownTokenVerifies() throws {
        let key = try P256PrivateKey(pem: pem).publicKey
        let raw = try #require(Base64URL.decode(signature))
        #expect(key.isValid(raw, for: Array(signingInput.utf8)))
        #expect(!key.isValid(raw, for: Array((signingInput + "A").utf8)))
        #expect(!key.isValid(Array(raw.dropLast()), for: Array(signingInput.utf8)))
        #expect(!key.isValid([UInt8](repeating: 0, count: 64), for: Array(signingInput.utf8)))
        #expect(try !P256PrivateKey.generate().publicKey.isValid(raw, for: Array(signingInput.utf8)))
    }

    @Test func signaturesAreSixtyFourBytesAndVerify() throws {
        let key = try P256PrivateKey.generate()
        // Often enough that numbers with leading zero bytes appear, whose DER form is shorter.
        for round in 0..<300 {
            let message = Array("message \(round)".utf8)
            let signature = try key.signature(for: message)
            #expect(signature.count == 64)
            #expect(key.publicKey.isValid(signature, for: message))
        }
    }

    @Test(arguments: ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "not a key"])
    func invalidKeyTextsAreRefused(text: String) {
        #expect(throws: CryptoError.malformedPrivateKey) { try P256PrivateKey(pem: text) }
        #expect(throws: CryptoError.malformedPublicKey) { try P256PublicKey(pem: text) }
    }

    @Test func scalarsAndPointsOutsideTheGroupAreRefused() {
        #expect(throws: CryptoError.malformedPrivateKey) {
            try P256PrivateKey(rawScalar: [UInt8](repeating: 0, count: 32))
        }
        #expect(throws: CryptoError.malformedPrivateKey) {
            try P256PrivateKey(rawScalar: [UInt8](repeating: 0xFF, count: 32))
        }
        #expect(throws: CryptoError.wrongLength(expected: 32, actual: 31)) {
            try P256PrivateKey(rawScalar: [UInt8](repeating: 1, count: 31))
        }
        #expect(throws: CryptoError.malformedPublicKey) {
            try P256PublicKey(rawPoint: [4] + [UInt8](repeating: 1, count: 64))
        }
    }

    @Test func aKeyOnAnotherCurveIsNamedAsSuch() {
        let p384 = """
            -----BEGIN PUBLIC KEY-----
            MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEciNciL2V4HscO1w7YPkTt5nnreabFCln
            hJYrsuuRuZnFySl7WNI+7YB/cVnQQi6SbYEfV1fKgvCs/sDtxfYIc3MhJjYS4O4y
            sxdrZKHxvECIk8ziLUkF65vWr+UIYpmq
            -----END PUBLIC KEY-----
            """
        #expect(throws: CryptoError.wrongKeyKind(expected: "an elliptic curve key on P-256")) {
            try P256PublicKey(pem: p384)
        }
    }

    @Test func aKeyUnderAPasswordIsRefusedAndNobodyIsAsked() {
        let protected = """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAh9g1sGaa/ntwICCAAw
            DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEA4PmKb/fnZskG0BvQlB4MkEgZAb
            ZFKxM97VLFd+hm2vphhPAjexek8gI+MSJfeMMr/io0ytK9D1t25GpRWTM1Tz5ISw
            j/t5GfawgLpGuLwfGqkCpFpMaQc0ijXLeqC0G/RIGkV+cWmB5qDNVm1xLVh9OlwF
            JSv/SnMM2leOp9gw86Vh6Q3fLmQTEvDs9Uex9G7mjjmkbDraxW4oTzOv9xTTXlM=
            -----END ENCRYPTED PRIVATE KEY-----
            """
        #expect(throws: CryptoError.malformedPrivateKey) { try P256PrivateKey(pem: protected) }
    }
}
