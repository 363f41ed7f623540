import MartletCore
import MartletCrypto
import MartletModel

/// Recently verified passwords, so that HTTP Basic does not need a slow hash for each request.
///
/// Each entry is a keyed hash (with a key of this process) over the stored password hash and the password itself. It
/// reveals nothing to a reader, and it becomes invalid when the user's password changes, because the stored hash
/// changes too.
struct VerifiedPasswords: Sendable {
    private let key: HMACSHA256
    private let lifetime: Duration
    private var expiries: ByteBoundedCache<[UInt8], Timestamp>

    /// - Parameter byteLimit: The maximum memory of the entries, in bytes. The default has room for several thousand.
    init(lifetime: Duration, byteLimit: Int = 2 << 20) throws(CryptoError) {
        key = try HMACSHA256(key: RandomBytes.generate(32))
        self.lifetime = lifetime
        expiries = ByteBoundedCache(byteLimit: byteLimit)
    }

    /// The memory of the entries, in bytes.
    var bytes: Int { expiries.bytes }

    mutating func contains(_ password: [UInt8], of hash: String, at now: Timestamp) -> Bool {
        guard let code = code(password, hash), let expiry = expiries.value(for: code) else { return false }
        return expiry > now
    }

    mutating func insert(_ password: [UInt8], of hash: String, at now: Timestamp) {
        guard let code = code(password, hash) else { return }
        expiries.insert(now + lifetime, for: code, bytes: code.count + 32)
    }

    /// Returns the code that identifies a password of the user whose password hash is `hash`; nil if OpenSSL fails.
    func code(_ password: [UInt8], _ hash: String) -> [UInt8]? {
        try? key.authenticationCode(for: Array(hash.utf8) + [0] + password)
    }
}
