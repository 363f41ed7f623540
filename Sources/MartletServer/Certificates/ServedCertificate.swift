import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletNetwork

/// The certificate that a listener presents, with its key and the name by which messages refer to it.
///
/// The key always belongs to the certificate; the initializer that reads files checks this.
struct ServedCertificate: Sendable {
    /// The path of the certificate, or a description if it was not read from a file.
    let name: String
    let identity: TLSIdentity
    let certificate: Certificate

    var begins: Timestamp { Timestamp(seconds: Int64(certificate.notBefore)) }
    var ends: Timestamp { Timestamp(seconds: Int64(certificate.notAfter)) }

    /// Reads a certificate with its chain, and its key, from PEM files.
    /// - Throws: `ServerError` that names the file and the error in it.
    init(certificateFile: String, keyFile: String) throws(ServerError) {
        let text = try Self.text(certificateFile)
        let keyText = try Self.text(keyFile)
        do throws(CryptoError) {
            certificate = try Certificate(pem: text)
        } catch {
            throw ServerError("\(certificateFile) has no certificate: expected -----BEGIN CERTIFICATE-----.")
        }
        do throws(CryptoError) {
            _ = try CertificateIdentity(pem: try certificate.pem() + keyText)
        } catch .incompleteIdentity {
            throw ServerError("\(keyFile) is not the key of the certificate in \(certificateFile).")
        } catch {
            throw ServerError(
                "\(keyFile) has no private key: expected -----BEGIN PRIVATE KEY-----, without a password.")
        }
        name = certificateFile
        identity = TLSIdentity(certificatesPEM: text, privateKeyPEM: keyText)
    }

    /// Creates a value from a certificate that the private authority has issued.
    init(_ issued: ServerCertificates) throws(ServerError) {
        do throws(CryptoError) {
            certificate = try Certificate(pem: issued.certificatePEM)
        } catch {
            throw ServerError("The certificate of --tls-self-signed cannot be read: \(error)")
        }
        name = "The certificate of --tls-self-signed"
        identity = TLSIdentity(certificatesPEM: issued.certificatePEM, privateKeyPEM: issued.keyPEM)
    }

    private static func text(_ path: String) throws(ServerError) -> String {
        guard let bytes = try SecretFile.read(path) else {
            throw ServerError("Cannot read \(path): there is no such file.")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Checks that the certificate has not expired.
    /// - Throws: `ServerError` if the certificate has expired.
    func checkEnd(at now: Timestamp) throws(ServerError) {
        guard ends < now else { return }
        throw ServerError("\(name) ended on \(ends.day): renew it, or serve with --tls-self-signed.")
    }

    /// Returns a warning if the public URL uses https and the certificate does not cover its host; otherwise nil.
    func mismatch(with publicURL: HTTPOrigin?) -> String? {
        guard let publicURL, publicURL.scheme == .https, !certificate.isFor(publicURL.host) else { return nil }
        let names = certificate.hostNames.prefix(3)
        let owner = names.isEmpty ? certificate.commonName ?? "no name" : names.joined(separator: ", ")
        return "\(name) is for \(owner), and --public-url is \(publicURL)."
    }
}

extension Timestamp {
    /// The date without the time, such as `2026-11-22`.
    var day: String { String(iso8601.prefix(10)) }
}
