/// Hashes and checks the passwords of operators, with a limit on failed attempts.
public protocol OperatorPasswords: Sendable {
    /// Hashes a new password.
    /// - Returns: The hash in PHC string form; nil if too many passwords are being hashed.
    func hash(_ password: [UInt8]) async -> String?

    /// Checks a password.
    /// - Parameters:
    ///   - hash: The stored hash; nil if the operator does not exist or has no password. The check then takes the same
    ///     time, and fails.
    ///   - name: The operator's name in lower case.
    ///   - address: The client's address, in text form.
    func check(_ password: [UInt8], against hash: String?, of name: String, from address: String) async -> PasswordCheck

    /// Performs a sign-in without a password, with the same limit on failed attempts.
    /// - Parameters:
    ///   - name: The name under which failures are counted.
    ///   - address: The client's address, in text form.
    /// - Returns: The number of seconds to wait if there were too many failed attempts; `work` was not called then.
    func limit(_ name: String, from address: String, _ work: () async -> AttemptResult) async -> Int64?
}

/// The result of a sign-in without a password.
public enum AttemptResult: Hashable, Sendable {
    case succeeded
    case failed
    /// The sign-in could neither succeed nor fail, for example because the identity provider did not answer. The
    /// attempt is not counted.
    case withdrawn
}

/// The result of checking a password.
public enum PasswordCheck: Hashable, Sendable {
    case right
    case wrong
    /// There were too many failed attempts.
    ///
    /// The value is the number of seconds to wait.
    case refused(retryAfter: Int64)
    /// Too many passwords are being checked.
    case busy
}
