public import MartletCrypto
public import MartletHTTP
import MartletModel

/// One request to a certificate authority.
public struct ACMERequest: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        case get
        case head
        /// A request signed with the account's key (RFC 8555, section 6.2). A request with an empty payload reads a
        /// resource (section 6.3).
        /// - Parameters:
        ///   - nonce: A nonce, which can be used only once.
        ///   - account: The account's URL; nil for the request that creates or finds the account.
        case post(payload: [UInt8], nonce: String, account: ACMEURL?)
    }

    public let url: ACMEURL
    public let content: Content

    /// Returns the HTTP request.
    ///
    /// The client must send it to `url.origin`.
    /// - Parameter program: The program's name in `user-agent`, which is mandatory (RFC 8555, section 6.1).
    public func http(key: P256PrivateKey, program: String) throws(CryptoError) -> HTTPRequest {
        var request = HTTPRequest(
            .get, url.target, authority: url.origin.authority, fields: ["user-agent": program, "accept": "*/*"])
        switch content {
        case .get: break
        case .head: request.method = .head
        case .post(let payload, let nonce, let account):
            request.method = .post
            request.fields["content-type"] = "application/jose+json"
            request.body = try JSONWebSignature.flattened(
                header: header(nonce: nonce, account: account, key: key), payload: payload, key: key)
        }
        return request
    }

    private func header(nonce: String, account: ACMEURL?, key: P256PrivateKey) -> [UInt8] {
        var header: [String: JSON] = [
            "alg": "ES256", "nonce": .string(nonce), "url": .string(url.description),
        ]
        if let account {
            header["kid"] = .string(account.description)
        } else {
            header["jwk"] = try? JSON(parsing: Array(key.publicKey.jsonWebKey.utf8))
        }
        return JSON.object(header).bytes
    }
}
