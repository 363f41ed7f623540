import MartletCrypto

/// Web Push encryptions on one thread, each for a receiver of its own (RFC 8291).
struct EncryptionLoad: Sendable {
    private static let receiverCount = 1000
    /// Between two looks at the clock.
    private static let portion = 100

    private let receivers: [(point: [UInt8], secret: [UInt8])]
    private let message: [UInt8]

    init(message: [UInt8]) throws(CryptoError) {
        self.message = message
        var receivers: [(point: [UInt8], secret: [UInt8])] = []
        for _ in 0..<Self.receiverCount {
            receivers.append((try P256PrivateKey.generate().publicKey.rawPoint, RandomBytes.generate(16)))
        }
        self.receivers = receivers
    }

    /// - Returns: How many messages were encrypted.
    func encrypt(for duration: Duration) throws(CryptoError) -> Int {
        let encryptor = try MessageEncryptor(label: "WebPush: info")
        let end = ContinuousClock.now + duration
        var count = 0
        var output: [UInt8] = []
        while ContinuousClock.now < end {
            for _ in 0..<Self.portion {
                let receiver = receivers[count % Self.receiverCount]
                output.removeAll(keepingCapacity: true)
                try encryptor.encrypt(message, for: receiver.point, secret: receiver.secret, to: &output)
                count += 1
            }
        }
        return count
    }
}
