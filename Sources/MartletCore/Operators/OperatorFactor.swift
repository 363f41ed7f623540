public import MartletModel

/// The second factor of an operator: a secret from which an authenticator app computes codes (RFC 6238).
public struct OperatorFactor: Sendable, CustomStringConvertible {
    public var secret: [UInt8]
    /// When a code confirmed the secret; nil until then. Only a confirmed factor is required.
    public var confirmedAt: Timestamp?
    /// The time step (RFC 6238) of the last code that was used. No code of this step or an earlier one is accepted.
    public var lastStep: Int64
    /// The number of recovery codes that are still unused.
    public var recoveryCodes: Int

    public init(secret: [UInt8], confirmedAt: Timestamp?, lastStep: Int64, recoveryCodes: Int) {
        self.secret = secret
        self.confirmedAt = confirmedAt
        self.lastStep = lastStep
        self.recoveryCodes = recoveryCodes
    }

    public var description: String { "second factor" }
}

/// Stores the second factors of operators. Secrets are encrypted at rest. Every change is durable when it returns.
public protocol OperatorFactorStore: Sendable {
    /// Stores a secret for the operator to confirm. Replaces an earlier secret that was not confirmed.
    /// - Returns: Whether the operator exists and has no confirmed factor.
    func beginFactor(_ secret: [UInt8], of name: String) async throws(StorageError) -> Bool

    /// Returns the factor of an operator, confirmed or not; nil if there is none.
    func factor(of name: String) async throws(StorageError) -> OperatorFactor?

    /// Confirms a factor by a code, and stores the hashes of its recovery codes.
    /// - Parameters:
    ///   - secret: The secret that the code was checked with. If another secret was stored since, nothing is confirmed.
    ///   - step: The time step of the code.
    /// - Returns: Whether the factor was confirmed by this call; false if this secret is not stored, or if it was
    ///   confirmed before.
    func confirmFactor(
        _ secret: [UInt8], of name: String, step: Int64, recoveryCodes: [[UInt8]], at now: Timestamp
    ) async throws(StorageError) -> Bool

    /// Records that a code was used.
    /// - Parameter step: The time step of the code.
    /// - Returns: Whether no code of this step or a later one was used before.
    func useFactor(of name: String, step: Int64) async throws(StorageError) -> Bool

    /// Removes a recovery code that was used.
    /// - Returns: Whether the operator had this recovery code.
    func useRecoveryCode(_ hash: [UInt8], of name: String) async throws(StorageError) -> Bool

    /// Removes the factor of an operator and its recovery codes.
    /// - Returns: Whether the operator exists.
    func removeFactor(of name: String) async throws(StorageError) -> Bool
}
