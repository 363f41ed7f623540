extension P256PublicKey {
    /// The key as a JSON Web Key that contains only the required members, sorted by name and without spaces (RFC 7638,
    /// section 3). This is the input of the thumbprint.
    public var jsonWebKey: String {
        let point = rawPoint
        let x = Base64URL.encode(Array(point[1..<33]))
        let y = Base64URL.encode(Array(point[33..<65]))
        return #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
    }

    /// The SHA-256 thumbprint of the key in Base64url (RFC 7638).
    public var thumbprint: String {
        Base64URL.encode(SHA256.hash(Array(jsonWebKey.utf8)))
    }

    /// Returns the key authorization that answers an ACME challenge: the challenge's token and the thumbprint of the
    /// account's key (RFC 8555, section 8.1).
    public func keyAuthorization(token: String) -> String {
        "\(token).\(thumbprint)"
    }
}
