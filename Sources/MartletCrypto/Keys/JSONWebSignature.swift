/// Creates JSON Web Signatures (RFC 7515) with ES256.
public enum JSONWebSignature {
    /// Returns the flattened JSON serialization (RFC 7515, section 7.2.2).
    ///
    /// - Parameters:
    ///   - header: The protected header, a JSON object with `"alg": "ES256"`.
    ///   - payload: The bytes to sign; may be empty.
    public static func flattened(
        header: [UInt8], payload: [UInt8], key: P256PrivateKey
    ) throws(CryptoError) -> [UInt8] {
        let protected = Base64URL.encode(header)
        let content = Base64URL.encode(payload)
        let signature = Base64URL.encode(try key.signature(for: Array("\(protected).\(content)".utf8)))
        return Array(#"{"payload":"\#(content)","protected":"\#(protected)","signature":"\#(signature)"}"#.utf8)
    }
}
