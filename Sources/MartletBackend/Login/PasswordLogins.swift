public import MartletCore
public import MartletCrypto
import Synchronization

/// Checks the passwords of accounts that are not users of the app backend: those of the console's operators. The limit
/// on failed attempts is the same as for users, but the attempts are counted separately.
public final class PasswordLogins: Sendable {
    /// The result of checking a password.
    public enum Verdict: Hashable, Sendable {
        case right
        case wrong
        /// There were too many failed attempts.
        /// - Parameter retryAfter: The wait before the next attempt, in seconds.
        case refused(retryAfter: Int64)
        /// Too many passwords are being checked.
        case busy
    }

    /// The result of a log-in that is not by password.
    public enum Attempt: Hashable, Sendable {
        case succeeded
        case failed
        /// The log-in could neither succeed nor fail, for example because a server did not answer. The attempt is not
        /// counted.
        case withdrawn
    }

    private let hashing: Argon2idQueue
    private let cost: Argon2id.Parameters
    private let time: any TimeSource
    private let limiter: Mutex<LoginLimiter>
    private let slowedDown: @Sendable (String) -> Void

    /// - Parameters:
    ///   - cost: The hashing cost of a new password.
    ///   - slowedDown: Called for each attempt that is refused because of too many failed attempts, with the client's
    ///     network (`203.0.113.0/24`).
    public init(
        time: any TimeSource, hashing: Argon2idQueue = Argon2idQueue(), cost: Argon2id.Parameters = .standard,
        slowedDown: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.time = time
        self.hashing = hashing
        self.cost = cost
        self.slowedDown = slowedDown
        limiter = Mutex(LoginLimiter())
    }

    /// Hashes a new password.
    /// - Returns: The hash in PHC string form; nil if too many passwords are being hashed.
    public func hash(_ password: [UInt8]) async -> String? {
        await hashing.hash(password, parameters: cost)
    }

    /// Checks a password.
    /// - Parameters:
    ///   - hash: The stored hash; nil if there is no such account. With nil, the check takes the same time and fails.
    ///   - name: The name of the account in lower case.
    ///   - address: The client's address, in text form.
    public func check(
        _ password: [UInt8], against hash: String?, of name: String, from address: String
    ) async -> Verdict {
        let (decision, share) = limiter.withLock {
            ($0.attempt(user: name, address: address, at: time.now), $0.share(of: name, address: address))
        }
        let attempt: LoginLimiter.Attempt
        switch decision {
        case .refused(let wait): return .refused(retryAfter: slowed(address, wait))
        case .admitted(let admitted): attempt = admitted
        }
        guard let isRight = await hashing.verify(password, against: hash ?? cost.decoy, share: share) else {
            limiter.withLock { $0.withdrawn(attempt, at: time.now) }
            return .busy
        }
        guard isRight, hash != nil else { return .wrong }
        limiter.withLock { $0.succeeded(attempt, at: time.now) }
        return .right
    }

    /// Performs a log-in that is not by password, with the same limit on failed attempts.
    /// - Parameters:
    ///   - name: The name under which failures are counted.
    ///   - address: The client's address, in text form.
    /// - Returns: nil if `work` was called. If there were too many failed attempts, `work` is not called, and the
    ///   result is the number of seconds to wait.
    public func limit(_ name: String, from address: String, _ work: () async -> Attempt) async -> Int64? {
        switch limiter.withLock({ $0.attempt(user: name, address: address, at: time.now) }) {
        case .refused(let wait): return slowed(address, wait)
        case .admitted(let attempt):
            let result = await work()
            limiter.withLock { limiter in
                switch result {
                case .succeeded: limiter.succeeded(attempt, at: time.now)
                case .withdrawn: limiter.withdrawn(attempt, at: time.now)
                case .failed: break
                }
            }
            return nil
        }
    }

    /// Reports that an attempt is refused, and returns the wait in seconds.
    private func slowed(_ address: String, _ wait: Duration) -> Int64 {
        slowedDown(LoginLimiter.neighborhood(of: address))
        return wait.components.seconds + 1
    }
}
