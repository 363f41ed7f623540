import CMartletOpenSSL

/// Converts between the two forms of a P-256 signature: OpenSSL's DER sequence, and the raw r and s values of JWS.
enum ECDSASignature {
    private static let componentByteCount: Int32 = 32

    static func raw(der: [UInt8]) -> [UInt8]? {
        let signature = der.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return d2i_ECDSA_SIG(nil, &position, buffer.count)
        }
        guard let signature else { return nil }
        defer { ECDSA_SIG_free(signature) }
        var r = [UInt8](repeating: 0, count: Int(componentByteCount))
        var s = r
        guard BN_bn2binpad(ECDSA_SIG_get0_r(signature), &r, componentByteCount) == componentByteCount,
            BN_bn2binpad(ECDSA_SIG_get0_s(signature), &s, componentByteCount) == componentByteCount
        else { return nil }
        return r + s
    }

    static func der(raw: [UInt8]) -> [UInt8]? {
        guard raw.count == 2 * Int(componentByteCount), let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let r = BN_bin2bn(raw, componentByteCount, nil)
        let s = raw.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress?.advanced(by: 32), componentByteCount, nil) }
        // ECDSA_SIG_set0 takes ownership of both numbers, but only if it succeeds.
        guard ECDSA_SIG_set0(signature, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_ECDSA_SIG(signature, &bytes)
        defer { martlet_OPENSSL_free(bytes) }
        return count > 0 ? Array(UnsafeBufferPointer(start: bytes, count: Int(count))) : nil
    }
}
