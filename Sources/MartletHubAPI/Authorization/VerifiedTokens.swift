import MartletCore
import MartletCrypto
import Synchronization

/// Tokens whose signature was found to be right, by their exact text: clients send the same one for minutes, and taking it
/// apart and computing its code again takes a tenth of the time of a request.
///
/// Remembered is what the text says and whose keys signed it, and nothing that can change: expiry, address, the rule and
/// its keys are looked at with every request. Only a right signature takes room.
final class VerifiedTokens: Sendable {
    /// By the hash of the header, whose key is this process's own.
    private let tokens: Mutex<ByteBoundedCache<Int, PresentedToken>>

    /// Longer headers, in bytes, are not remembered.
    private static let lengthLimit = 1024

    /// - Parameter byteLimit: How much memory they may take: some thousand.
    init(byteLimit: Int = 4 << 20) {
        tokens = Mutex(ByteBoundedCache(byteLimit: byteLimit))
    }

    var count: Int { tokens.withLock(\.count) }
    /// How much memory they take, in bytes.
    var bytes: Int { tokens.withLock(\.bytes) }

    /// The token of a header; nil for one that is not remembered.
    func token(_ header: String) -> PresentedToken? {
        guard header.utf8.count <= Self.lengthLimit else { return nil }
        let hash = header.hashValue
        guard let token = tokens.withLock({ $0.value(for: hash) }),
            ConstantTime.areEqual(token.header, header)
        else { return nil }
        return token
    }

    /// Where there are too many, the least recently used is checked once more when it comes back.
    func remember(_ token: PresentedToken) {
        guard token.header.utf8.count <= Self.lengthLimit else { return }
        let hash = token.header.hashValue
        // The text, and the parts of it that the signature and the audience are.
        let bytes = 3 * token.header.utf8.count + 512
        tokens.withLock { $0.insert(token, for: hash, bytes: bytes) }
    }
}
