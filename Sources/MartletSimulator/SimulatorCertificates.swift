import MartletCrypto
import MartletModel
import MartletNetwork
import MartletPush

/// The certificates of one run of the simulator: the authority's certificate, the listeners' correct certificate, and
/// the wrong certificates. A listener presents a wrong certificate if a fault asks for it.
struct SimulatorCertificates {
    let authorityPEM: String
    private let rightful: TLSServerContext
    private let wrong: [Fault.TLSFault: TLSServerContext]

    init(host: String, now: Timestamp) throws(SimulatorError) {
        let hosts = Set(["localhost", "127.0.0.1", "::1", host]).sorted()
        let now = Int(now.seconds)
        do {
            let authority = try Self.authority(at: now)
            let stranger = try Self.authority(at: now)
            authorityPEM = try authority.identity.certificatePEM()
            rightful = try Self.context(authority, hosts, at: now)
            wrong = [
                .tlsWrongName: try Self.context(authority, ["elsewhere.example"], at: now),
                .tlsExpired: try Self.context(authority, hosts, at: now - 10 * 86_400, days: 1),
                .tlsUntrusted: try Self.context(stranger, hosts, at: now),
            ]
        } catch {
            throw SimulatorError("The simulator's certificates cannot be made: \(error)")
        }
    }

    /// Returns the TLS context for a new connection: with the wrong certificate that the fault asks for, or with the
    /// listeners' correct certificate if there is no fault.
    func context(_ fault: Fault.TLSFault?) -> TLSServerContext {
        fault.flatMap { wrong[$0] } ?? rightful
    }

    private static func authority(at now: Int) throws(CryptoError) -> CertificateAuthority {
        try CertificateAuthority.generate(commonName: "Push service simulator", now: now - 30 * 86_400)
    }

    private static func context(
        _ authority: CertificateAuthority, _ hosts: [String], at now: Int, days: Int = 397
    ) throws -> TLSServerContext {
        let identity = try authority.issue(
            CertificateRequest(commonName: "simulator", hosts: hosts), now: now, days: days)
        return try TLSServerContext(
            TLSIdentity(
                certificatesPEM: try identity.certificatePEM(), privateKeyPEM: try identity.privateKeyPEM()),
            requestsClientCertificate: true)
    }
}
