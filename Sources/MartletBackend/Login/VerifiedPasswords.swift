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
    private let countLimit: Int
    private var expiries: [[UInt8]: Timestamp] = [:]

    init(lifetime: Duration, countLimit: Int = 10_000) throws(CryptoError) {
        key = try HMACSHA256(key: RandomBytes.generate(32))
        self.lifetime = lifetime
        self.countLimit = countLimit
    }

    var count: Int { expiries.count }

    func contains(_ password: [UInt8], of hash: String, at now: Timestamp) -> Bool {
        guard let code = code(password, hash), let expiry = expiries[code] else { return false }
        return expiry > now
    }

    mutating func insert(_ password: [UInt8], of hash: String, at now: Timestamp) {
        guard let code = code(password, hash) else { return }
        if expiries.count >= countLimit { expiries = expiries.filter { $0.value > now } }
        if expiries.count >= countLimit { expiries.removeAll() }
        expiries[code] = now + lifetime
    }

    /// What stands for a password of a user, whose hash is `hash`.
    func code(_ password: [UInt8], _ hash: String) -> [UInt8]? {
        try? key.authenticationCode(for: Array(hash.utf8) + [0] + password)
    }
}
