import Foundation
import MartletACME
import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletServer

/// The certificate of an ACME authority at a start, and what is kept of an order.
struct ACMECertificateTests {
    private let directory = TemporaryDirectory()
    private let time = ManualTimeSource()
    private let lines = Lines()
    private let files: ACMEFiles

    init() throws {
        files = ACMEFiles(in: directory.path, domain: "push.example.org")
        try files.makeDirectory()
    }

    private final class Lines: Sendable {
        let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock(\.self) }
    }

    private var acme: ServerConfiguration.ACME {
        ServerConfiguration.ACME(domains: ["push.example.org"], agreesToTerms: true)
    }

    private func configuration(_ acme: ServerConfiguration.ACME? = nil) -> ServerConfiguration {
        var configuration = ServerConfiguration(dataDirectory: directory.path)
        configuration.tlsListen = ServerConfiguration.Address(host: "127.0.0.1", port: 0)
        configuration.tls = .acme(acme ?? self.acme)
        return configuration
    }

    private func open() throws -> ListenerCertificate {
        try ListenerCertificate(configuration(), end: CertificateEnd(), time: time) { [lines] _, text in
            lines.texts.withLock { $0.append(text) }
        }
    }

    private func identity(days: Int = 90) throws -> CertificateIdentity {
        let now = Int(time.now.seconds)
        let authority = try CertificateAuthority.generate(commonName: "Test", now: now)
        return try authority.issue(
            CertificateRequest(commonName: "test", hosts: ["push.example.org"]), now: now, days: days)
    }

    private func write(_ text: String, to path: String) throws {
        try SecretFile.write(Array(text.utf8), to: path)
    }

    @Test func aServerStartsWithoutACertificateAndTakesItUp() throws {
        let certificate = try open()
        #expect(certificate.current == nil)
        certificate.look()
        let identity = try identity()
        try write(try identity.privateKeyPEM(), to: files.nextKey)
        try files.install(try identity.certificatePEM())
        try certificate.exchange()
        #expect(certificate.current?.certificate == identity.certificate)
        #expect(!FileManager.default.fileExists(atPath: files.nextKey))
    }

    @Test func halfAnExchangeIsCompletedAtAStart() throws {
        let (old, new) = (try identity(), try identity())
        try write(try old.privateKeyPEM(), to: files.key)
        try write(try new.certificatePEM(), to: files.chain)
        try write(try new.privateKeyPEM(), to: files.nextKey)
        #expect(try open().current?.certificate == new.certificate)
        #expect(lines.all == [])
    }

    @Test func theKeyOfAnOrderThatIsNotFinishedReplacesNothing() throws {
        let old = try identity()
        try write(try old.privateKeyPEM(), to: files.key)
        try write(try old.certificatePEM(), to: files.chain)
        let next = try files.key(in: files.nextKey)
        #expect(try open().current?.certificate == old.certificate)
        #expect(try files.storedKey(in: files.nextKey)?.publicKey == next.publicKey)
    }

    @Test func aCertificateThatCannotBeUsedIsOrderedAnew() throws {
        try write("nothing", to: files.chain)
        try write("nothing", to: files.key)
        #expect(try open().current == nil)
        #expect(
            lines.all == [
                "A new certificate is ordered: \(files.chain) has no certificate: expected -----BEGIN CERTIFICATE-----."
            ])
    }

    @Test func aCertificateThatHasEndedIsNoReasonNotToStart() throws {
        let old = try identity(days: 1)
        try write(try old.privateKeyPEM(), to: files.key)
        try write(try old.certificatePEM(), to: files.chain)
        time.advance(by: .seconds(3 * 86_400))
        #expect(try open().current?.certificate == old.certificate)
    }

    @Test func aShortLifeIsNoWarning() throws {
        let short = try identity(days: 6)
        try write(try short.privateKeyPEM(), to: files.key)
        try write(try short.certificatePEM(), to: files.chain)
        let certificate = try open()
        certificate.look()
        time.advance(by: .seconds(4 * 86_400))
        certificate.look()
        #expect(lines.all == [])
        time.advance(by: .seconds(86_400 + 3600))
        certificate.look()
        #expect(lines.all.count == 1)
    }

    @Test func anOrderIsKeptForTheSameAuthorityAndNames() throws {
        let settings = try acme.settings()
        var state = ACMEState()
        state.order = ACMEURL("https://ca.example.org/orders/1")
        state.schedule.ordered(at: time.now)
        state.schedule.failed(at: time.now, retryAfter: .seconds(60))
        let bytes = state.bytes(settings)
        let read = ACMEState(bytes, settings: settings)
        #expect(read.order == state.order)
        #expect(read.schedule.orders == [time.now])
        #expect(read.schedule.askedWait == time.now + .seconds(60))
        var other = acme
        other.domains.append("api.example.org")
        #expect(ACMEState(bytes, settings: try other.settings()).order == nil)
        #expect(ACMEState(bytes, settings: try other.settings()).schedule.orders == [time.now])
        #expect(ACMEState(Array("{".utf8), settings: settings) == ACMEState())
        let extreme = #"{"orders":[-9223372036854775808,9223372036854775807],"askedWait":9223372036854775807}"#
        #expect(ACMEState(Array(extreme.utf8), settings: settings) == ACMEState())
    }

    @Test(arguments: [
        (nil, "https://acme-v02.api.letsencrypt.org", TransportSettings.Addresses.publicOnly),
        (nil, "https://192.168.0.1", .publicOnly),
        ("https://ca.corp.example/dir", "https://ca.corp.example", .any),
        ("https://ca.corp.example/dir", "https://ca.corp.example:8443", .publicOnly),
        ("https://ca.corp.example/dir", "https://router.corp.example", .publicOnly),
    ])
    func answersOfAnAuthorityDoNotLeadIntoPrivateNetworks(
        _ directory: String?, _ origin: String, _ addresses: TransportSettings.Addresses
    ) throws {
        var acme = acme
        acme.directory = directory
        let client = ACMEClient(
            settings: try acme.settings(), key: try P256PrivateKey.generate(), trusted: nil, program: "martlet",
            transport: NoTransport(), time: time)
        #expect(client.transportSettings(for: try #require(HTTPOrigin(origin))).addresses == addresses)
    }

    @Test func aCertificateForAnotherKeyReplacesNothing() async throws {
        let foreign = try identity()
        let text = try foreign.privateKeyPEM() + (try foreign.certificatePEM())
        let certificate = try open()
        let obstacle = CertificateObstacle()
        let service = ACMEService(
            settings: try acme.settings(), files: files, certificate: certificate, obstacle: obstacle,
            program: "martlet", transport: GenerousAuthority(certificate: text), time: time
        ) { [lines] _, text in lines.texts.withLock { $0.append(text) } }
        service.announce()
        #expect(obstacle.sentence?.hasPrefix("There is no certificate for push.example.org yet") == true)
        let run = Task { await service.run() }
        await time.untilSleeping()
        run.cancel()
        await run.value
        #expect(certificate.current == nil)
        #expect(!FileManager.default.fileExists(atPath: files.chain))
        #expect(
            obstacle.sentence
                == "There is no certificate for push.example.org yet: the certificate of the authority cannot be used: "
                + "A certificate and the private key that belongs to it are needed, both in one input.")
        #expect(lines.all.allSatisfy { !$0.contains("PRIVATE") })
    }

    @Test func anAttemptEndsWithinTwoHoursHoweverSlowlyTheAuthorityAnswers() async throws {
        let issued = try identity()
        try write(try issued.privateKeyPEM(), to: files.nextKey)
        var state = ACMEState()
        state.order = ACMEURL("https://acme-v02.api.letsencrypt.org/order")
        try SecretFile.write(state.bytes(try acme.settings()), to: files.state)
        let certificate = try open()
        let obstacle = CertificateObstacle()
        let authority = GenerousAuthority(
            certificate: try issued.certificatePEM(), each: .seconds(1800), by: time)
        let service = ACMEService(
            settings: try acme.settings(), files: files, certificate: certificate, obstacle: obstacle,
            program: "martlet", transport: authority, time: time
        ) { [lines] _, text in lines.texts.withLock { $0.append(text) } }
        let run = Task { await service.run() }
        await time.untilSleeping()
        run.cancel()
        await run.value
        #expect(certificate.current == nil)
        #expect(obstacle.sentence?.contains("did not come to an end in two hours") == true)
        let kept = try #require(try SecretFile.readOwn(files.state))
        #expect(ACMEState(kept, settings: try acme.settings()).order != nil, "the next attempt continues the order")
    }

    /// Makes one attempt with an authority whose certificate begins at another time.
    /// - Returns: The certificate that the authority has issued.
    private func attempt(
        with certificate: ListenerCertificate, obstacle: CertificateObstacle, names: [String], begins: Duration
    ) async throws -> CertificateIdentity {
        let authority = try CertificateAuthority.generate(commonName: "Test", now: Int(time.now.seconds))
        // A certificate of this authority begins an hour before the time that is given.
        let issued = try authority.issue(
            CertificateRequest(commonName: "test", hosts: names), now: Int((time.now + begins).seconds) + 3600, days: 90
        )
        var acme = acme
        acme.domains = names
        // An order that is continued keeps its key.
        try write(try issued.privateKeyPEM(), to: files.nextKey)
        var state = ACMEState()
        state.order = ACMEURL("https://acme-v02.api.letsencrypt.org/order")
        try SecretFile.write(state.bytes(try acme.settings()), to: files.state)
        let service = ACMEService(
            settings: try acme.settings(), files: files, certificate: certificate, obstacle: obstacle,
            program: "martlet", transport: GenerousAuthority(certificate: try issued.certificatePEM()), time: time
        ) { [lines] _, text in lines.texts.withLock { $0.append(text) } }
        let run = Task { await service.run() }
        await time.untilSleeping()
        run.cancel()
        await run.value
        return issued
    }

    private var validIdentity: CertificateIdentity {
        get throws {
            let old = try identity()
            try write(try old.privateKeyPEM(), to: files.key)
            try write(try old.certificatePEM(), to: files.chain)
            return old
        }
    }

    @Test func aCertificateThatIsNotValidYetReplacesNoValidOne() async throws {
        let old = try validIdentity
        let certificate = try open()
        let obstacle = CertificateObstacle()
        _ = try await attempt(
            with: certificate, obstacle: obstacle, names: ["push.example.org", "api.example.org"],
            begins: .seconds(10 * 86_400))
        #expect(certificate.current?.certificate == old.certificate)
        let note = try #require(obstacle.note(at: time.now))
        #expect(note.contains("is not valid before 2023-11-24"), "\(note)")
        #expect(note.contains("The one in use is for push.example.org"), "\(note)")
        #expect(lines.all.last?.contains("is not valid before 2023-11-24") == true, "\(lines.all)")
        #expect(obstacle.sentence == nil)
    }

    @Test func clocksMayDifferByMinutes() async throws {
        _ = try validIdentity
        let certificate = try open()
        let obstacle = CertificateObstacle()
        let new = try await attempt(
            with: certificate, obstacle: obstacle, names: ["push.example.org", "api.example.org"], begins: .seconds(200)
        )
        #expect(certificate.current?.certificate == new.certificate)
        #expect(obstacle.note(at: time.now) == nil)
    }

    @Test func withoutAValidOneACertificateOfTheFutureIsUsedAndTheHealthCheckSaysSo() async throws {
        let certificate = try open()
        let obstacle = CertificateObstacle()
        let new = try await attempt(
            with: certificate, obstacle: obstacle, names: ["push.example.org"], begins: .seconds(86_400))
        #expect(certificate.current?.certificate == new.certificate)
        #expect(obstacle.note(at: time.now)?.contains("check the clock of this server") == true)
        #expect(obstacle.note(at: time.now + .seconds(86_400)) == nil)
    }

    @Test func anotherAuthorityWaitsForARestart() {
        var other = acme
        other.domains = ["api.example.org"]
        let change = ConfigurationChange(from: configuration(), to: configuration(other))
        #expect(change.taken == [])
        #expect(change.waiting == ["acme-domain"])
        #expect(change.effective.tls == .acme(acme))
        var files = configuration()
        files.tls = .files(certificate: "a", key: "b")
        #expect(ConfigurationChange(from: configuration(), to: files).waiting == ["acme-domain"])
        #expect(ConfigurationChange(from: configuration(), to: configuration()).waiting == [])
    }
}

private struct NoTransport: HTTPTransport {
    func send(
        _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void
    ) async {}

    func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse {
        throw TransportError(.disconnected, mayHaveBeenProcessed: false, "none")
    }
}

/// An authority that wants no proof and issues whatever it has.
private struct GenerousAuthority: HTTPTransport {
    let certificate: String
    /// The time that each answer takes by the clock of the test.
    var each: Duration?
    var by: ManualTimeSource?

    func send(
        _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void
    ) async {}

    func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse {
        if let each { by?.advance(by: each) }
        let order = #""authorizations":[],"finalize":"\#(origin)/finalize","certificate":"\#(origin)/certificate""#
        let text =
            switch request.target {
            case "/directory":
                #"{"newNonce":"\#(origin)/nonce","newAccount":"\#(origin)/account","newOrder":"\#(origin)/order"}"#
            case "/order": #"{"status":"ready",\#(order)}"#
            case "/finalize": #"{"status":"valid",\#(order)}"#
            case "/certificate": certificate
            default: "{}"
            }
        return HTTPResponse(
            .ok, fields: ["replay-nonce": "n", "location": "\(origin)/made"], body: .bytes(Array(text.utf8)))
    }
}
