/// A certificate with its chain and its private key.
public struct TLSIdentity: Sendable {
    let certificatesPEM: String
    let privateKeyPEM: String

    /// - Parameters:
    ///   - certificatesPEM: The own certificate first, then those that lead to its root.
    ///   - privateKeyPEM: Without a password; may be the same text as the certificates.
    public init(certificatesPEM: String, privateKeyPEM: String) {
        self.certificatesPEM = certificatesPEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// Reads both from PEM files.
    public init(certificateFile: String, privateKeyFile: String) throws(NetworkError) {
        certificatesPEM = try PEMReader.text(ofFile: certificateFile)
        privateKeyPEM = try PEMReader.text(ofFile: privateKeyFile)
    }
}
