extension P256PrivateKey {
    /// Returns the shared secret of this key and another key's public point (SP 800-56A, section 5.7.1.2): 32 bytes, to
    /// be used as input for a key derivation.
    /// - Parameter point: The uncompressed point, 65 bytes.
    /// - Throws: `CryptoError.malformedPublicKey` if `point` is not a point on the curve.
    public func sharedSecret(with point: [UInt8]) throws(CryptoError) -> [UInt8] {
        try P256Agreement().sharedSecret(rawScalar().bytes, point)
    }
}
