import MartletCore
import MartletCrypto
import MartletModel

/// Results of recent password checks, so that HTTP Basic does not need a slow hash for each request.
///
/// A result counts only for the network in which it was found. In every other network the password is checked again.
/// Otherwise, after a user has logged in at home, attackers elsewhere could have their guesses compared without a slow
/// hash.
///
/// Each entry is stored under a keyed hash (with a key of this process) of the stored password hash, the network and
/// the password itself. The keyed hash reveals nothing to a reader of the memory. It no longer matches after the user's
/// password changes, because the stored hash changes too.
struct CheckedPasswords: Sendable {
    enum Result: Hashable, Sendable {
        case right
        case wrong
    }

    private let key: HMACSHA256
    private let lifetime: Duration
    private var entries: ByteBoundedCache<[UInt8], (result: Result, expiry: Timestamp)>

    /// - Parameter byteLimit: The maximum memory of the entries, in bytes. The default has room for several thousand
    ///   entries.
    init(lifetime: Duration, byteLimit: Int = 2 << 20) throws(CryptoError) {
        key = try HMACSHA256(key: RandomBytes.generate(32))
        self.lifetime = lifetime
        entries = ByteBoundedCache(byteLimit: byteLimit)
    }

    /// The memory of the entries, in bytes.
    var bytes: Int { entries.bytes }

    /// Returns the remembered result of a check; nil if none is remembered.
    /// - Parameter code: The code of the check, from `code`.
    mutating func result(of code: [UInt8], at now: Timestamp) -> Result? {
        guard let entry = entries.value(for: code), entry.expiry > now else { return nil }
        return entry.result
    }

    mutating func insert(_ result: Result, of code: [UInt8], at now: Timestamp) {
        entries.insert((result, now + lifetime), for: code, bytes: code.count + 32)
    }

    /// Returns the code that identifies the check of a password; nil if OpenSSL fails.
    /// - Parameters:
    ///   - hash: The stored hash of the user's password, or another text that stands for the user.
    ///   - network: The client's network, from `LoginLimiter.network`.
    func code(_ password: [UInt8], _ hash: String, in network: String) -> [UInt8]? {
        try? key.authenticationCode(for: Array(hash.utf8) + [0] + Array(network.utf8) + [0] + password)
    }
}
