import MartletCrypto
import Synchronization

/// The idle message encryptors of one `WebPush` service. An encryptor is kept after use, so that no new one has to be
/// created for the next message.
final class MessageEncryptorPool: Sendable {
    // Sendable because an encryptor is either in the pool, where no thread uses it, or taken out and used by one
    // thread.
    private struct Idle: @unchecked Sendable {
        let encryptor: MessageEncryptor
    }

    private let label: String
    private let idle = Mutex<[Idle]>([])

    init(label: String) {
        self.label = label
    }

    /// Encrypts a message for a subscription. Each message gets a new key pair.
    func encrypt(_ message: [UInt8], for point: [UInt8], secret: [UInt8]) throws(CryptoError) -> [UInt8] {
        let taken = idle.withLock { $0.popLast() }
        let entry = if let taken { taken } else { Idle(encryptor: try MessageEncryptor(label: label)) }
        defer { idle.withLock { $0.append(entry) } }
        var output: [UInt8] = []
        try entry.encryptor.encrypt(message, for: point, secret: secret, to: &output)
        return output
    }
}
