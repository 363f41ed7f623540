import MartletCrypto

/// The fingerprint of a device's encryption key, in the form in which `martlet keys` and the SDK show it.
enum DeviceKeyFingerprint {
    /// Returns the SHA-256 hash of a key as eight groups of five digits, four bytes each.
    /// - Parameter key: The public key, followed by the authentication secret.
    static func text(of key: [UInt8]) -> String {
        let hash = SHA256.hash(key)
        return stride(from: 0, to: hash.count, by: 4).map { start in
            let group = hash[start..<(start + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } % 100_000
            let digits = String(group)
            return String(repeating: "0", count: 5 - digits.count) + digits
        }.joined(separator: " ")
    }
}
