import MartletCrypto
import Testing

struct CertificateTests {
    private static let now = 1_700_000_000

    private func issue(_ request: CertificateRequest) throws -> CertificateIdentity {
        try CertificateAuthority.generate(commonName: "Test CA", now: Self.now).issue(request, now: Self.now)
    }

    @Test func aLeafSaysWhatWasAskedFor() throws {
        let leaf = try issue(
            CertificateRequest(
                commonName: "push", hosts: ["localhost", "*.example.com", "127.0.0.1", "::1"],
                userID: "com.example.app",
                extensions: ["1.2.840.113635.100.6.3.1": [0x05, 0x00]])
        ).certificate
        #expect(leaf.commonName == "push")
        #expect(leaf.userID == "com.example.app")
        #expect(leaf.notBefore == Self.now - 3_600)
        #expect(leaf.notAfter == Self.now + 397 * 86_400)
        #expect(leaf.extensionValue("1.2.840.113635.100.6.3.1") == [0x05, 0x00])
        #expect(leaf.extensionValue("1.2.840.113635.100.6.3.2") == nil)
        let names = try #require(leaf.extensionValue("2.5.29.17"))
        let expected: [UInt8] =
            [0x30, 44] + [0x82, 9] + Array("localhost".utf8) + [0x82, 13] + Array("*.example.com".utf8)
            + [0x87, 4, 127, 0, 0, 1] + [0x87, 16] + [UInt8](repeating: 0, count: 15) + [1]
        #expect(names == [0x30, UInt8(expected.count - 2)] + expected.dropFirst(2))
    }

    @Test(arguments: ["", "a b", "evil,DNS:other", "-x", "x-", "a..b", "1.2.3.4,IP:5.6.7.8", "host/path", "*"])
    func aHostThatIsNeitherNameNorAddressIsRefused(host: String) {
        #expect(throws: CryptoError.invalidName(host)) {
            try issue(CertificateRequest(commonName: "x", hosts: [host]))
        }
    }

    @Test func twoCertificatesNeverShareASerialNumberOrAKey() throws {
        let authority = try CertificateAuthority.generate(commonName: "Test CA", now: Self.now)
        let request = CertificateRequest(commonName: "same", hosts: ["localhost"])
        let first = try authority.issue(request, now: Self.now)
        let second = try authority.issue(request, now: Self.now)
        #expect(first.certificate != second.certificate)
        #expect(try first.privateKeyPEM() != second.privateKeyPEM())
        #expect(first.certificate.thumbprint != second.certificate.thumbprint)
    }

    /// The certificate and its fingerprint are what the command `openssl` made and printed.
    @Test func theFingerprintIsTheOneThatBrowsersShow() throws {
        let certificate = try Certificate(
            pem: """
                -----BEGIN CERTIFICATE-----
                MIIBgzCCASmgAwIBAgIUXl0WCszCazTbAHOgPzjmg1T6rAYwCgYIKoZIzj0EAwIw
                FzEVMBMGA1UEAwwMcHVzaC5leGFtcGxlMB4XDTI2MTEyNjE0MzM0OFoXDTM2MTEy
                MzE0MzM0OFowFzEVMBMGA1UEAwwMcHVzaC5leGFtcGxlMFkwEwYHKoZIzj0CAQYI
                KoZIzj0DAQcDQgAEy4Q76PvS9JYW8Ai8KjR1YNYyxlMonjoYzD8NZYQTb1m57wRl
                cfFRBx5WoK0yo6SnLPsQ2hs8X9SYFTOdVz4vh6NTMFEwHQYDVR0OBBYEFI6pFrew
                gu3jQzfgs2YSeMiDi/Y5MB8GA1UdIwQYMBaAFI6pFrewgu3jQzfgs2YSeMiDi/Y5
                MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAK5sv6y8OZuqVbZE
                WmnGNnuLLaIMW3wJMKKk1/COK3rMAiBl1eCklTBW6rLfaLZGx4npLzRtXWBe6QJG
                lU2OoUF6mA==
                -----END CERTIFICATE-----
                """)
        #expect(
            certificate.fingerprint
                == "9D:21:1F:07:C1:74:C0:7E:1B:5C:BD:CE:C7:44:99:02:"
                + "6A:62:D5:EA:14:E1:02:E2:1F:AB:B2:86:20:B5:78:6F")
    }

    @Test func identitiesTravelAsPEMAndAsPKCS12() throws {
        let identity = try issue(CertificateRequest(commonName: "traveller"))
        let fromPEM = try CertificateIdentity(pem: identity.certificatePEM() + identity.privateKeyPEM())
        #expect(fromPEM.certificate == identity.certificate)
        let container = try identity.pkcs12(password: "geheim")
        let fromContainer = try CertificateIdentity(pkcs12: container, password: "geheim")
        #expect(fromContainer.certificate == identity.certificate)
        #expect(try fromContainer.privateKeyPEM() == identity.privateKeyPEM())
        #expect(throws: CryptoError.wrongPassword) { try CertificateIdentity(pkcs12: container, password: "other") }
        #expect(throws: CryptoError.malformedPKCS12) { try CertificateIdentity(pkcs12: [1, 2, 3], password: "") }
    }

    @Test func aCertificateNeedsItsOwnKey() throws {
        let one = try issue(CertificateRequest(commonName: "one"))
        let other = try issue(CertificateRequest(commonName: "other"))
        #expect(throws: CryptoError.incompleteIdentity) {
            try CertificateIdentity(pem: one.certificatePEM() + other.privateKeyPEM())
        }
        #expect(throws: CryptoError.malformedPrivateKey) { try CertificateIdentity(pem: one.certificatePEM()) }
        #expect(throws: CryptoError.malformedCertificate) { try CertificateIdentity(pem: one.privateKeyPEM()) }
        #expect(throws: CryptoError.malformedCertificate) { try Certificate(der: [0x30, 0x00]) }
    }

    @Test func moreCertificatesThanAChainCanHaveAreRefusedAndNotLeftOut() throws {
        let identity = try issue(CertificateRequest(commonName: "x"))
        func read(_ count: Int) throws(CryptoError) -> CertificateIdentity {
            var pem = try identity.privateKeyPEM()
            for _ in 0..<count { pem += try identity.certificate.pem() }
            return try CertificateIdentity(pem: pem)
        }
        #expect(try read(16).chain.count == 15)
        #expect(throws: CryptoError.self) { try read(17) }
    }

    @Test func aContainerWithTheCiphersOfOldKeyChainsOpens() throws {
        let container = try #require(Base64.decode(Self.legacyContainer.filter { $0 != "\n" }))
        let identity = try CertificateIdentity(pkcs12: container, password: "secret")
        #expect(identity.certificate.userID == "com.example.app")
        #expect(identity.certificate.commonName == "Legacy")
    }

    /// Made with `openssl pkcs12 -export -legacy`: RC2 with 40 bits around the certificate, as Keychain Access does.
    private static let legacyContainer = """
        MIIDugIBAzCCA4AGCSqGSIb3DQEHAaCCA3EEggNtMIIDaTCCAl8GCSqGSIb3DQEHBqCCAlAwggJMAgEAMIICRQYJKoZIhvcNAQcB
        MBwGCiqGSIb3DQEMAQYwDgQIC2sUoG8XjnACAggAgIICGH2asA3ng02hbFs1y7qj+T7nIbMpi6TT5AHUw+7MgB4qTBvLc5se/sD3
        X+Btcsn1TrTv1677XHv/b+YAZl4usAj4wZjC60ZbvqPkCDjjYURA9JFbqL1Fdemk13F/+8dUF+CO/kfB/5xv6JbbzqOuytxpAfHW
        NZ5k0l7+Ot8u65e1Hkzi6HDoy/N5acSQH91g/+xxPsC13jg6VZbwBzbh69OQAzZ/8C1eFO8qeAR+Mq4r6pQz9ISRNH0uN3REf6lz
        nHvmr7rwEYtw9czL3uHeXiDv4t2PcSNUFejfWu64Kf48qPZVYqpm+IHZpwg134SIH/dlUH90Pwhq5WHBOw4UTJ8Z7XDLibEiZEj1
        nw2DLrv6+URrtfhPmnDDWPBR85iZJbxag9CseElcJkK0siP8kqRN7/nSlTLbB3f79hfao/gD4gX6eXeDqsoUdYvCYh57FN6wgYF+
        aetNa/Y9hZZINBtM21+nr16Uy7fWFzGy4uNknDg/YkSvPyp6y4YQ1EiWiCu2BzTrEEDNeC9BjZ4IgtDX/Vy1X6bBHs6mXGAI8sie
        amJiItloIxxULNRHJAZRQoBslYIrK/DmhKaYDY1oKUcE9MYt+mIpUyTo/unMCLsCvWWSkL2KUvHkaX8bNr6t+HiNewsDeMEPCcN3
        hVdlnahpZieZYJUC6IaKVzDj7+gWIk8CBmj34t5PIq0t62TcrwEROBrat8oWMIIBAgYJKoZIhvcNAQcBoIH0BIHxMIHuMIHrBgsq
        hkiG9w0BDAoBAqCBtDCBsTAcBgoqhkiG9w0BDAEDMA4ECO9Ez1R7gGBhAgIIAASBkPIqZjQXafBUVHQNB2Ech55IqLp4ORWUy37w
        XjII0NUBZPugTSYLW+dDFBZE/04wFznX30WCMb+QcmMO42qZF94cbD2t4HATNnY08EdVvxqG9kf4Bu+SA3WoYzx6TSm5l4AgPYjn
        npp7nD5hzEWB6QhTephs6KS2d/SLFC2WCCn5UpeBdwWR/vZI4eelDbClFTElMCMGCSqGSIb3DQEJFTEWBBRVb7GcatUnlt9x72AI
        zsOad43QBDAxMCEwCQYFKw4DAhoFAAQUun3FpHlY6UriyhQzFYDxXODEiJMECOOdg6kQpA1lAgIIAA==
        """
}
