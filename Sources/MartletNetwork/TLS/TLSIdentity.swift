/// A certificate with its chain and private key.
public struct TLSIdentity: Sendable {
    let certificatesPEM: String
    let privateKeyPEM: String

    /// Creates an identity from PEM text.
    /// - Parameters:
    ///   - certificatesPEM: The end-entity certificate, followed by the intermediate certificates.
    ///   - privateKeyPEM: The private key, without a password. May be the same text as `certificatesPEM`.
    public init(certificatesPEM: String, privateKeyPEM: String) {
        self.certificatesPEM = certificatesPEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// Reads the certificates and the private key from PEM files.
    public init(certificateFile: String, privateKeyFile: String) throws(NetworkError) {
        certificatesPEM = try PEMReader.text(ofFile: certificateFile)
        privateKeyPEM = try PEMReader.text(ofFile: privateKeyFile)
    }
}
