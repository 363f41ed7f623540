import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletACME

struct ACMERequestTests {
    private let key: P256PrivateKey
    private let url: ACMEURL

    init() throws {
        key = try P256PrivateKey.generate()
        url = try #require(ACMEURL("https://ca.example.org/orders?a=1"))
    }

    private func decoded(_ text: JSON?) throws -> [UInt8] {
        try #require(text?.string.flatMap { Base64URL.decode($0) })
    }

    private func header(account: ACMEURL?) throws -> JSON {
        let content = ACMERequest.Content.post(payload: [1, 2], nonce: "nonce", account: account)
        let request = try ACMERequest(url: url, content: content).http(key: key, program: "martlet/1")
        #expect(request.method == .post)
        #expect(request.target == "/orders?a=1")
        #expect(request.authority == "ca.example.org")
        #expect(request.fields["content-type"] == "application/jose+json")
        #expect(request.fields["user-agent"] == "martlet/1")
        let body = try JSON(parsing: request.body)
        let signed = try #require(body["protected"]?.string) + "." + (try #require(body["payload"]?.string))
        #expect(try decoded(body["payload"]) == [1, 2])
        #expect(key.publicKey.isValid(try decoded(body["signature"]), for: Array(signed.utf8)))
        return try JSON(parsing: try decoded(body["protected"]))
    }

    @Test func aRequestIsSignedWithTheAccountsURLOrItsKey() throws {
        let known = try header(account: ACMEURL("https://ca.example.org/account/1"))
        #expect(
            known == [
                "alg": "ES256", "nonce": "nonce", "url": "https://ca.example.org/orders?a=1",
                "kid": "https://ca.example.org/account/1",
            ])
        let new = try header(account: nil)
        #expect(new["kid"] == nil)
        #expect(new["jwk"]?["crv"] == "P-256")
        #expect(new["jwk"]?["d"] == nil)
    }

    @Test(arguments: [
        "http://ca.example.org/", "https://user@ca.example.org/", "https://ca.example.org/#x", "ftp://x/", "",
        "https://",
        "https://ca.example.org/ x", "https://ca.example.org/" + String(repeating: "a", count: 2048),
    ])
    func otherURLsAreRefused(_ text: String) {
        #expect(ACMEURL(text) == nil)
    }

    @Test func hostNamesAreReadAndOthersRefused() {
        #expect(ACMEDomain.name("Push.Example.org") == "push.example.org")
        #expect(ACMEDomain.name("xn--bcher-kva.example") == "xn--bcher-kva.example")
        for wrong in [
            "*.example.org", "192.0.2.1", "::1", "localhost", "push..org", ".org", "a.org.", "-a.org", "a_b.org",
            "../x.y",
            "a/b.org", "b\u{fc}cher.example", String(repeating: "a", count: 64) + ".org",
        ] {
            #expect(ACMEDomain.name(wrong) == nil, "\(wrong)")
        }
    }

    @Test func wordsOfTheAuthorityAreOneLineOfLimitedLength() throws {
        let long = String(repeating: "x", count: 1000)
        let problem = try #require(
            ACMEProblem(["type": "urn:ietf:params:acme:error:malformed", "detail": .string("a\nb\u{202e}\u{0}" + long)])
        )
        #expect(problem.type == "malformed")
        #expect(problem.sentence.hasPrefix("a b??xxx"))
        #expect(problem.sentence.count == 300)
        let parts: JSON = ["detail": "Some.", "subproblems": [["detail": "One."], ["detail": "Two."], 3]]
        #expect(ACMEProblem(parts)?.sentence == "Some. One. Two.")
        #expect(ACMEProblem([]) == nil)
    }
}
