import Glibc
import MartletCrypto

/// The files in the data directory for a certificate that an ACME authority issues.
struct ACMEFiles: Sendable {
    /// The path of the account's key, which is used for all certificates.
    let accountKey: String
    private let directory: String
    /// The path of the certificate in use, with its chain.
    var chain: String { "\(directory)/chain.pem" }
    /// The path of the key of the certificate in use.
    var key: String { "\(directory)/key.pem" }
    /// The path of the key of the certificate that is being ordered.
    var nextKey: String { "\(directory)/next.key" }
    /// The path of the state that must survive a restart: the current order and the times of the last orders.
    var state: String { "\(directory)/state.json" }

    /// Determines the paths of the files.
    /// - Parameter domain: The first name of the certificate.
    init(in dataDirectory: String, domain: String) {
        accountKey = "\(dataDirectory)/acme/account.key"
        directory = "\(dataDirectory)/acme/\(domain)"
    }

    func makeDirectory() throws(ServerError) {
        try SecretFile.makeDirectory(directory)
    }

    /// Returns the key in a file. If the file does not exist, a new key is created and stored there.
    func key(in path: String) throws(ServerError) -> P256PrivateKey {
        if let key = try storedKey(in: path) { return key }
        let key: P256PrivateKey
        let pem: String
        do throws(CryptoError) {
            key = try P256PrivateKey.generate()
            pem = try key.pem()
        } catch {
            throw ServerError("\(path) cannot be made: \(error)")
        }
        try SecretFile.write(Array(pem.utf8), to: path)
        return key
    }

    func storedKey(in path: String) throws(ServerError) -> P256PrivateKey? {
        guard let bytes = try SecretFile.readOwn(path) else { return nil }
        do throws(CryptoError) {
            return try P256PrivateKey(pem: String(decoding: bytes, as: UTF8.self))
        } catch {
            throw ServerError("\(path) has no key: \(error) Remove it, and a new one is made.")
        }
    }

    func removeNextKey() {
        unlink(nextKey)
    }

    /// Replaces the certificate and then the key.
    ///
    /// If the process ends between these steps, the key of the new certificate is still in `nextKey`, and
    /// `finishInstallation` completes the replacement.
    func install(_ chainPEM: String) throws(ServerError) {
        try SecretFile.write(Array(chainPEM.utf8), to: chain)
        try finishInstallation()
    }

    /// Completes a replacement of certificate and key that an earlier process did not finish.
    func finishInstallation() throws(ServerError) {
        guard let chainPEM = try SecretFile.read(chain), let keyPEM = try SecretFile.read(nextKey),
            (try? CertificateIdentity(pem: String(decoding: keyPEM + chainPEM, as: UTF8.self))) != nil
        else { return }
        try SecretFile.write(keyPEM, to: key)
        removeNextKey()
    }
}
