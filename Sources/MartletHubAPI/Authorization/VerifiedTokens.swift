import MartletCore
import MartletCrypto
import Synchronization

/// A cache of tokens whose signature was verified, keyed by their exact text. Clients send the same token for minutes
/// (NotificationHubs.md, section 2.2). Parsing the token and computing its HMAC again would take a tenth of a request's
/// time.
///
/// Only the parsed token and the keys that signed it are cached. The expiry, the address, the rule and its keys are
/// checked on every request, because they can change. A token with a wrong signature is not cached.
final class VerifiedTokens: Sendable {
    /// The tokens, keyed by the hash of the header. Each process uses another seed for the hash.
    private let tokens: Mutex<ByteBoundedCache<Int, PresentedToken>>

    /// The maximum length of a cached header, in bytes. Longer headers are not cached.
    private static let lengthLimit = 1024

    /// - Parameter byteLimit: The maximum memory for cached tokens, in bytes. The default holds some thousand tokens.
    init(byteLimit: Int = 4 << 20) {
        tokens = Mutex(ByteBoundedCache(byteLimit: byteLimit))
    }

    var count: Int { tokens.withLock(\.count) }
    /// The memory used by the cached tokens, in bytes.
    var bytes: Int { tokens.withLock(\.bytes) }

    /// Returns the cached token of a header; nil if the token is not cached.
    func token(_ header: String) -> PresentedToken? {
        guard header.utf8.count <= Self.lengthLimit else { return nil }
        let hash = header.hashValue
        guard let token = tokens.withLock({ $0.value(for: hash) }),
            ConstantTime.areEqual(token.header, header)
        else { return nil }
        return token
    }

    /// Caches a token. If the cache is full, the least recently used token is evicted; the next request with that token
    /// verifies it again.
    func remember(_ token: PresentedToken) {
        guard token.header.utf8.count <= Self.lengthLimit else { return }
        let hash = token.header.hashValue
        // The estimate includes the header and the copies of its parts in the signature and the audience.
        let bytes = 3 * token.header.utf8.count + 512
        tokens.withLock { $0.insert(token, for: hash, bytes: bytes) }
    }
}
