import MartletCrypto
import MartletModel

/// The private authority of `--tls-self-signed` and the certificate that it issues to this server.
///
/// The authority is created once, so that clients keep trusting it. The certificate is issued at every start, and is
/// renewed after two thirds of its lifetime.
struct ServerCertificates: Sendable {
    /// The certificate with its chain, as PEM, for the listener.
    let certificatePEM: String
    let keyPEM: String

    /// Issues the certificate. Creates the authority first if there is none.
    /// - Parameter hosts: Names and addresses that clients may use, in addition to those of this machine.
    init(in directory: String, hosts: [String], now: Timestamp) throws(ServerError) {
        try SecretFile.makeDirectory("\(directory)/tls")
        let authorityFile = Self.authorityFile(in: directory)
        let stored = try Self.stored(in: directory, certificate: authorityFile)
        let authority: CertificateAuthority
        let names = Set((["localhost", "127.0.0.1", "::1", HostName.current] + hosts).compactMap(\.self))
        do throws(CryptoError) {
            if let stored {
                authority = stored
            } else {
                authority = try .generate(commonName: "Martlet private authority", now: Int(now.seconds))
            }
            let identity = try authority.issue(
                CertificateRequest(commonName: "martlet", hosts: names.sorted()), now: Int(now.seconds))
            certificatePEM = try identity.certificatePEM()
            keyPEM = try identity.privateKeyPEM()
        } catch {
            throw ServerError("The certificate of --tls-self-signed cannot be made: \(error)")
        }
        if stored == nil { try Self.store(authority, in: directory, certificate: authorityFile) }
    }
}

extension ServerCertificates {
    /// Returns the path of the certificate that clients must trust.
    static func authorityFile(in directory: String) -> String { "\(directory)/tls/ca.pem" }

    private static func stored(
        in directory: String, certificate: String
    ) throws(ServerError) -> CertificateAuthority? {
        guard let certificate = try SecretFile.read(certificate),
            let key = try SecretFile.readOwn("\(directory)/tls/ca.key")
        else { return nil }
        let pem = String(decoding: certificate + key, as: UTF8.self)
        do throws(CryptoError) {
            return CertificateAuthority(identity: try CertificateIdentity(pem: pem))
        } catch {
            throw ServerError("The private authority in \(directory)/tls cannot be read: \(error)")
        }
    }

    /// Stores a new authority: first its key, then its certificate.
    ///
    /// In the opposite order, a process that ends in between would leave a certificate without its key. A new authority
    /// would then be necessary, although clients may already trust the stored certificate.
    private static func store(
        _ authority: CertificateAuthority, in directory: String, certificate: String
    ) throws(ServerError) {
        let pem: (key: String, certificate: String)
        do throws(CryptoError) {
            pem = (try authority.identity.privateKeyPEM(), try authority.identity.certificatePEM())
        } catch {
            throw ServerError("The private authority cannot be stored: \(error)")
        }
        try SecretFile.write(Array(pem.key.utf8), to: "\(directory)/tls/ca.key")
        try SecretFile.write(Array(pem.certificate.utf8), to: certificate, mode: 0o644)
    }
}
