/// The keying material that the sender and the receiver of one message share (RFC 8291, section 3.4).
enum MessageSecret {
    /// Derives the keying material of one message.
    /// - Parameters:
    ///   - label: The purpose of the message, which is an input of the key derivation.
    ///   - agreed: The shared secret from the key agreement.
    ///   - secret: The receiver's authentication secret, 16 bytes.
    /// - Returns: The input of the content coding's key derivation, 32 bytes.
    static func material(
        label: String, agreed: [UInt8], secret: [UInt8], receiver: [UInt8], sender: [UInt8], _ hmac: HMACContext
    ) throws(CryptoError) -> [UInt8] {
        let extracted = try hmac.authenticationCode(for: agreed, key: secret)
        var info: [UInt8] = []
        info.reserveCapacity(label.utf8.count + 1 + receiver.count + sender.count + 1)
        info += label.utf8
        info.append(0)
        info += receiver
        info += sender
        // The byte 1 is the counter of HKDF's only block.
        info.append(1)
        return try hmac.authenticationCode(for: info, key: extracted)
    }

    /// The length of an authentication secret in bytes.
    static let byteCount = 16
}
