import MartletCrypto
import Testing

@testable import MartletClient

struct ClientBase64Tests {
    @Test func bothAlphabetsAgreeWithTheServers() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 250) }
            let (standard, urlSafe) = (MartletClient.Base64.standard, MartletClient.Base64.urlSafe)
            #expect(standard.encode(bytes) == MartletCrypto.Base64.encode(bytes))
            #expect(urlSafe.encode(bytes) == Base64URL.encode(bytes))
            #expect(standard.decode(standard.encode(bytes)) == bytes)
            #expect(urlSafe.decode(urlSafe.encode(bytes)) == bytes)
        }
    }

    @Test(arguments: ["A", "AA", "AAA", "A===", "AA=A", "====", "AB==", "AA-A", "A A=", "AAAA=", "é==="])
    func unpaddedBase64IsRefused(text: String) {
        #expect(MartletClient.Base64.standard.decode(text) == nil)
    }

    @Test(arguments: ["A", "AB", "AA==", "AA+A", "AAAAA"]) func invalidURLSafeBase64IsRefused(text: String) {
        #expect(MartletClient.Base64.urlSafe.decode(text) == nil)
    }
}
