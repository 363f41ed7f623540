import Testing

@testable import MartletCrypto

struct Argon2idTests {
    /// From the reference implementation's own test suite.
    private let reference = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"

    @Test func hashingFollowsTheReferenceImplementation() throws {
        let parameters = Argon2id.Parameters(memory: 256, iterations: 2, parallelism: 1)
        let hash = try Argon2id.hash(Array("password".utf8), salt: Array("somesalt".utf8), parameters: parameters)
        #expect(hash == reference)
        #expect(Argon2id.verify(Array("password".utf8), against: reference))
        #expect(!Argon2id.verify(Array("Password".utf8), against: reference))
    }

    @Test func theStandardParametersAreWrittenIntoTheString() throws {
        let hash = try Argon2id.hash(Array("correct horse".utf8))
        #expect(hash.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
        #expect(Argon2id.Parameters(phc: hash) == .standard)
        #expect(Argon2id.verify(Array("correct horse".utf8), against: hash))
        #expect(!Argon2id.verify(Array("correct hors".utf8), against: hash))
        #expect(!Argon2id.verify([], against: hash))
    }

    @Test(arguments: [
        "", "password", "$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65", "$argon2id$v=16$m=256,t=2,p=1$c29tc2FsdA$nf65",
        "$argon2id$v=19$t=2,m=256,p=1$c29tZXNhbHQ$nf65", "$argon2id$v=19$m=256,t=2,p=1$c29tc2FsdA",
        "$argon2id$v=19$m=4294967295,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
    ])
    func aStringOfAnotherFormMatchesNothing(phc: String) {
        #expect(!Argon2id.verify(Array("password".utf8), against: phc))
    }
}
