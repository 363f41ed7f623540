import Foundation
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletServer

struct ListenerCertificateTests {
    private let directory = TemporaryDirectory()
    private let time = ManualTimeSource()
    private let lines = Lines()
    private let end = CertificateEnd()

    private final class Lines: Sendable {
        let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock(\.self) }
    }

    private var certificateFile: String { "\(directory.path)/certa.pem" }
    private var keyFile: String { "\(directory.path)/key.pem" }

    private func identity(_ hosts: [String] = ["push.example.org"], days: Int = 90) throws -> CertificateIdentity {
        let now = Int(time.now.seconds)
        let authority = try CertificateAuthority.generate(commonName: "Test", now: now)
        return try authority.issue(CertificateRequest(commonName: "test", hosts: hosts), now: now, days: days)
    }

    private func write(_ text: String, to path: String) throws {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func write(_ identity: CertificateIdentity) throws {
        try write(try identity.certificatePEM(), to: certificateFile)
        try write(try identity.privateKeyPEM(), to: keyFile)
    }

    private func configuration() -> ServerConfiguration {
        var configuration = ServerConfiguration(dataDirectory: directory.path)
        configuration.tlsListen = ServerConfiguration.Address(host: "127.0.0.1", port: 0)
        configuration.tls = .files(certificate: certificateFile, key: keyFile)
        return configuration
    }

    private func open(_ configuration: ServerConfiguration) throws -> ListenerCertificate {
        try ListenerCertificate(configuration, end: end, time: time) { [lines] _, text in
            lines.texts.withLock { $0.append(text) }
        }
    }

    private func refusal() -> String? {
        #expect(throws: ServerError.self) { try open(configuration()) }?.description
    }

    @Test func errorsNameTheFile() throws {
        #expect(refusal() == "Cannot read \(certificateFile): there is no such file.")
        // A pipe without a writer.
        #expect(mkfifo(certificateFile, 0o600) == 0)
        #expect(refusal() == "\(certificateFile) is not a regular file.")
        #expect(unlink(certificateFile) == 0)
        let identity = try identity()
        try write("nothing", to: certificateFile)
        try write("nothing", to: keyFile)
        #expect(refusal() == "\(certificateFile) has no certificate: expected -----BEGIN CERTIFICATE-----.")
        try write(try identity.certificatePEM(), to: certificateFile)
        #expect(
            refusal() == "\(keyFile) has no private key: expected -----BEGIN PRIVATE KEY-----, without a password.")
        try write(try self.identity().privateKeyPEM(), to: keyFile)
        #expect(refusal() == "\(keyFile) is not the key of the certificate in \(certificateFile).")
        try write(identity)
        time.advance(by: .seconds(91 * 86_400))
        #expect(
            refusal() == "\(certificateFile) ended on 2024-02-12: renew it, or serve with --tls-self-signed.")
    }

    @Test func aCertificateOfAnotherNameIsAWarning() throws {
        try write(try identity(["old.example.org", "*.wild.example"]))
        var configuration = configuration()
        configuration.publicURL = HTTPOrigin("https://push.example.org")
        _ = try open(configuration)
        #expect(
            lines.all == [
                "\(certificateFile) is for old.example.org, *.wild.example, and --public-url is https://push.example.org."
            ])
        configuration.publicURL = HTTPOrigin("https://a.wild.example")
        _ = try open(configuration)
        #expect(lines.all.count == 1)
    }

    @Test func replacedFilesAreTakenUpAtTheNextLook() throws {
        try write(try identity())
        let certificate = try open(configuration())
        certificate.look()
        #expect(lines.all == [])
        try write(try identity(days: 60))
        certificate.look()
        #expect(lines.all == ["\(certificateFile) was exchanged; it ends on 2024-01-13."])
        #expect(end.timestamp == Timestamp(seconds: 1_700_000_000 + 60 * 86_400))
    }

    @Test func aRenewalOfThePrivateAuthoritysCertificateTellsTheNewFingerprint() throws {
        var configuration = configuration()
        configuration.tls = .selfSigned
        let certificate = try open(configuration)
        let before = certificate.current?.certificate.fingerprint
        try certificate.exchange()
        let after = try #require(certificate.current?.certificate.fingerprint)
        #expect(after != before && lines.all.last?.hasSuffix("; SHA-256 \(after).") == true)
    }

    @Test func aHalfWrittenPairChangesNothingUntilItsOtherHalfIsThere() throws {
        try write(try identity())
        let certificate = try open(configuration())
        let before = end.timestamp
        let next = try identity(days: 60)
        try write(try next.certificatePEM(), to: certificateFile)
        certificate.look()
        #expect(lines.all == [])
        #expect(end.timestamp == before)
        try write(try next.privateKeyPEM(), to: keyFile)
        certificate.look()
        #expect(lines.all == ["\(certificateFile) was exchanged; it ends on 2024-01-13."])
    }

    @Test func theFilesAreLookedAtEveryMinute() async throws {
        try write(try identity())
        let certificate = try open(configuration())
        let watch = Task { await certificate.watch() }
        await time.untilSleeping()
        try write(try identity(days: 60))
        time.advance(by: .seconds(59))
        #expect(lines.all == [])
        time.advance(by: .seconds(1))
        await time.untilSleeping()
        #expect(lines.all.count == 1)
        watch.cancel()
        await watch.value
    }

    @Test func theSameCertificateIsNoReasonToRefuseAReloadOnceItHasEnded() throws {
        let identity = try identity()
        try write(identity)
        let certificate = try open(configuration())
        time.advance(by: .seconds(91 * 86_400))
        #expect(try certificate.candidate(configuration()).isNew == false)
    }
}
