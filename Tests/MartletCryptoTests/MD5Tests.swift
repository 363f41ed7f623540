import MartletCrypto
import Testing

struct MD5Tests {
    @Test(
        "RFC 1321, appendix A.5",
        arguments: [
            ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ])
    func checksumsAreThoseOfTheStandard(text: String, checksum: String) {
        #expect(Hex.encode(MD5.hash(Array(text.utf8))) == checksum)
    }
}
