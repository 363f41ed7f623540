import MartletCrypto
import Testing

struct OneTimePasswordTests {
    private let password = OneTimePassword(secret: Array("12345678901234567890".utf8))

    /// The last six digits of the codes in RFC 6238, appendix B.
    @Test(
        arguments: [
            (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
            (2_000_000_000, "279037"), (20_000_000_000, "353130"),
        ] as [(Int64, String)])
    func theCodesAreThoseOfTheStandard(seconds: Int64, code: String) throws {
        #expect(try password.code(ofStep: OneTimePassword.step(at: seconds)) == code)
    }

    @Test func aCodeIsAcceptedOneStepEarlyAndLate() throws {
        let code = try password.code(ofStep: 100)
        for (step, isAccepted) in [(98, false), (99, true), (100, true), (101, true), (102, false)] as [(Int64, Bool)] {
            #expect(try password.step(of: code, at: step * 30, after: 0) == (isAccepted ? 100 : nil), "\(step)")
        }
    }

    @Test func aCodeIsNotAcceptedAgainNorOneBeforeIt() throws {
        let code = try password.code(ofStep: 100)
        #expect(try password.step(of: code, at: 3000, after: 99) == 100)
        #expect(try password.step(of: code, at: 3000, after: 100) == nil)
        #expect(try password.step(of: try password.code(ofStep: 99), at: 3000, after: 100) == nil)
        for wrong in ["", "12345", "1234567", "abcdef", code + "\u{0}"] {
            #expect(try password.step(of: wrong, at: 3000, after: 0) == nil)
        }
    }

    @Test func theURINamesEverything() {
        let uri = password.uri(issuer: "Martlet", account: "ops@x") { $0.replacing("@", with: "%40") }
        #expect(
            uri == "otpauth://totp/Martlet:ops%40x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Martlet"
                + "&algorithm=SHA1&digits=6&period=30")
    }

    /// RFC 4648, section 10, without padding.
    @Test(
        arguments: [
            ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"), ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ])
    func base32IsThatOfTheStandard(text: String, encoded: String) {
        #expect(Base32.encode(Array(text.utf8)) == encoded)
    }
}
