extension P256PrivateKey {
    /// What this key and another's public point come to (SP 800-56A, section 5.7.1.2): 32 bytes to derive keys of.
    /// - Parameter point: Uncompressed, 65 bytes.
    /// - Throws: `CryptoError.malformedPublicKey` for what is no point of the curve.
    public func sharedSecret(with point: [UInt8]) throws(CryptoError) -> [UInt8] {
        try P256Agreement().sharedSecret(rawScalar().bytes, point)
    }
}
