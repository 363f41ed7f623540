public import MartletModel

/// Stores the console's operators with their links, sessions and audit log. Every change is durable when it returns.
/// Names of operators are compared without case.
public protocol OperatorStore: Sendable {
    /// Returns true if there is at least one operator.
    func hasOperators() async throws(StorageError) -> Bool

    /// Returns all operators, sorted by name.
    func operators(at now: Timestamp) async throws(StorageError) -> [OperatorSummary]

    func `operator`(_ name: String) async throws(StorageError) -> Operator?

    /// Adds an operator, or gives an existing operator other roles, and stores a link that replaces the operator's
    /// earlier links of the same kind.
    func invite(_ entry: Operator, by link: OperatorLink) async throws(StorageError)

    /// Stores a link of an operator, which replaces the operator's earlier links of the same kind.
    /// - Returns: Whether the operator exists.
    func addLink(_ link: OperatorLink) async throws(StorageError) -> Bool

    /// Returns the link whose token has this hash, and its operator; nil if there is no such link, if it has expired,
    /// or if the operator signs in by an identity provider.
    func link(tokenHash: [UInt8], at now: Timestamp) async throws(StorageError) -> (OperatorLink, Operator)?

    /// Marks a link as used and adds a session, in one transaction.
    /// - Parameter passwordHash: The hash of the operator's new password, which ends all other sessions; nil to keep
    ///   the password.
    /// - Returns: The operator; nil if the link does not exist any more, or if the operator is disabled. Then nothing
    ///   has changed.
    func useLink(
        tokenHash: [UInt8], passwordHash: String?, adding session: OperatorSession
    ) async throws(StorageError) -> Operator?

    /// Adds a session of an operator who has signed in with a password. If the operator then has more than
    /// `OperatorSession.countLimit` sessions, the session that was used longest ago ends.
    /// - Returns: Whether the operator still has this password and is not disabled.
    func addSession(_ session: OperatorSession, ofPassword hash: String) async throws(StorageError) -> Bool

    /// Signs in a person whom an identity provider has authenticated, in one transaction: finds or adds the operator,
    /// replaces the roles, and adds or confirms a session.
    /// - Parameters:
    ///   - session: The session to add; its operator's name is ignored.
    ///   - confirmed: The token hash of a session that is valid; nil if there is none. If that session belongs to the
    ///     same operator, it gets the `confirmedAt` of `session`, and `session` is not added. If the visit changes the
    ///     operator's roles, however, all sessions of the operator end and `session` is added.
    func enter(
        _ visit: ProviderVisit, adding session: OperatorSession, orConfirming confirmed: [UInt8]?
    ) async throws(StorageError) -> ProviderVisitResult

    /// Returns the session whose token has this hash, and its operator; nil if there is no such session. The caller
    /// checks whether the session is still valid.
    func operatorSession(tokenHash: [UInt8]) async throws(StorageError) -> (OperatorSession, Operator)?

    /// Records that a session was used and, if `isConfirmed`, that its operator has just confirmed their identity.
    func touchSession(tokenHash: [UInt8], at now: Timestamp, isConfirmed: Bool) async throws(StorageError)

    /// Returns the sessions of an operator, newest first.
    func operatorSessions(of name: String) async throws(StorageError) -> [OperatorSession]

    /// Ends a session.
    /// - Returns: Whether the session existed.
    func removeOperatorSession(tokenHash: [UInt8]) async throws(StorageError) -> Bool

    /// Ends all sessions of an operator except one, and removes the operator's links.
    /// - Parameter kept: The hash of the token of the session that stays; nil to end all sessions.
    /// - Returns: Whether the operator exists.
    func endSessions(of name: String, except kept: [UInt8]?) async throws(StorageError) -> Bool

    /// Changes an operator, unless no operator would be left who may administer the whole server. A change of roles
    /// ends all sessions of the operator in the same transaction, so that no session keeps the earlier roles.
    /// - Returns: The result of the change.
    func change(_ name: String, _ change: OperatorChange) async throws(StorageError) -> OperatorChangeResult

    /// Adds an entry to the audit log, and returns its id.
    func begin(_ action: OperatorAction) async throws(StorageError) -> OperatorAction.ID

    /// Records the answer to a request whose entry is in the audit log.
    /// - Parameter subject: The id of the object that the request has created, such as a notification; nil keeps the
    ///   entry's subject.
    func end(_ id: OperatorAction.ID, answer: Int, subject: String?) async throws(StorageError)

    /// Returns entries of the audit log, newest first.
    func actions(_ query: OperatorActionQuery) async throws(StorageError) -> [(OperatorAction.ID, OperatorAction)]

    /// Removes expired links, ended sessions and old entries of the audit log, at most `limit` of each.
    func sweepOperators(at now: Timestamp, limit: Int) async throws(StorageError)
}

/// The result of `OperatorStore.change`.
public enum OperatorChangeResult: Sendable {
    case changed(Operator)
    case notFound
    /// The operator is the last one who may administer the whole server and can sign in.
    case isLastAdmin
}
