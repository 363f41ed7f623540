import MartletCore
import MartletCrypto
import MartletModel

/// Passwords that were found right a moment ago, so that HTTP Basic does not cost a slow hash per request.
///
/// What is remembered is a hash under a key of this process, over the stored hash of the password and the password
/// itself: it tells nothing to who reads it, and it ends by itself when the user gets another password, for then the
/// stored hash is another.
struct VerifiedPasswords: Sendable {
    private let key: HMACSHA256
    private let lifetime: Duration
    private var expiries: ByteBoundedCache<[UInt8], Timestamp>

    /// - Parameter byteLimit: How much memory they may take: several thousand.
    init(lifetime: Duration, byteLimit: Int = 2 << 20) throws(CryptoError) {
        key = try HMACSHA256(key: RandomBytes.generate(32))
        self.lifetime = lifetime
        expiries = ByteBoundedCache(byteLimit: byteLimit)
    }

    /// How much memory they take, in bytes.
    var bytes: Int { expiries.bytes }

    mutating func contains(_ password: [UInt8], of hash: String, at now: Timestamp) -> Bool {
        guard let code = code(password, hash), let expiry = expiries.value(for: code) else { return false }
        return expiry > now
    }

    mutating func insert(_ password: [UInt8], of hash: String, at now: Timestamp) {
        guard let code = code(password, hash) else { return }
        expiries.insert(now + lifetime, for: code, bytes: code.count + 32)
    }

    /// What stands for a password of a user, whose hash is `hash`.
    func code(_ password: [UInt8], _ hash: String) -> [UInt8]? {
        try? key.authenticationCode(for: Array(hash.utf8) + [0] + password)
    }
}
