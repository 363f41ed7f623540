import MartletCrypto
import Testing

struct SecretBytesTests {
    @Test func noDescriptionShowsTheBytes() {
        let secret = SecretBytes([222, 173])
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), dumped, "\([secret])"] {
            #expect(!text.contains("222") && !text.contains("173") && text.contains("SecretBytes"))
        }
    }

    @Test func copiesAreEqualAndLendTheSameBytes() {
        let secret = SecretBytes([1, 2, 3])
        #expect(secret == SecretBytes([1, 2, 3]))
        #expect(secret != SecretBytes([1, 2, 4]))
        #expect(secret != SecretBytes([1, 2]))
        #expect(SecretBytes([]) == SecretBytes([]))
        #expect(secret.withUnsafeBytes { Array($0) } == [1, 2, 3])
        #expect(secret.bytes == [1, 2, 3])
    }
}
