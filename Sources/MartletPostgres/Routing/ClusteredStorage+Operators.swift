public import MartletCore
public import MartletModel

// Operators are in the first cluster.

extension ClusteredStorage: OperatorStore {
    public func hasOperators() async throws(StorageError) -> Bool {
        try await home.hasOperators()
    }

    public func operators(at now: Timestamp) async throws(StorageError) -> [OperatorSummary] {
        try await home.operators(at: now)
    }

    public func `operator`(_ name: String) async throws(StorageError) -> Operator? {
        try await home.`operator`(name)
    }

    public func invite(_ entry: Operator, by link: OperatorLink) async throws(StorageError) {
        try await home.invite(entry, by: link)
    }

    public func addLink(_ link: OperatorLink) async throws(StorageError) -> Bool {
        try await home.addLink(link)
    }

    public func link(tokenHash: [UInt8], at now: Timestamp) async throws(StorageError) -> (OperatorLink, Operator)? {
        try await home.link(tokenHash: tokenHash, at: now)
    }

    public func useLink(
        tokenHash: [UInt8], passwordHash: String?, adding session: OperatorSession
    ) async throws(StorageError) -> Operator? {
        try await home.useLink(tokenHash: tokenHash, passwordHash: passwordHash, adding: session)
    }

    public func addSession(_ session: OperatorSession, ofPassword hash: String) async throws(StorageError) -> Bool {
        try await home.addSession(session, ofPassword: hash)
    }

    public func enter(
        _ visit: ProviderVisit, adding session: OperatorSession, orConfirming confirmed: [UInt8]?
    ) async throws(StorageError) -> ProviderVisitResult {
        try await home.enter(visit, adding: session, orConfirming: confirmed)
    }

    public func operatorSession(tokenHash: [UInt8]) async throws(StorageError) -> (OperatorSession, Operator)? {
        try await home.operatorSession(tokenHash: tokenHash)
    }

    public func touchSession(tokenHash: [UInt8], at now: Timestamp, isConfirmed: Bool) async throws(StorageError) {
        try await home.touchSession(tokenHash: tokenHash, at: now, isConfirmed: isConfirmed)
    }

    public func operatorSessions(of name: String) async throws(StorageError) -> [OperatorSession] {
        try await home.operatorSessions(of: name)
    }

    public func removeOperatorSession(tokenHash: [UInt8]) async throws(StorageError) -> Bool {
        try await home.removeOperatorSession(tokenHash: tokenHash)
    }

    public func endSessions(of name: String, except kept: [UInt8]?) async throws(StorageError) -> Bool {
        try await home.endSessions(of: name, except: kept)
    }

    public func change(_ name: String, _ change: OperatorChange) async throws(StorageError) -> OperatorChangeResult {
        try await home.change(name, change)
    }

    public func begin(_ action: OperatorAction) async throws(StorageError) -> OperatorAction.ID {
        try await home.begin(action)
    }

    public func end(_ id: OperatorAction.ID, answer: Int, subject: String?) async throws(StorageError) {
        try await home.end(id, answer: answer, subject: subject)
    }

    public func actions(
        _ query: OperatorActionQuery
    ) async throws(StorageError) -> [(OperatorAction.ID, OperatorAction)] {
        try await home.actions(query)
    }

    public func sweepOperators(at now: Timestamp, limit: Int) async throws(StorageError) {
        try await home.sweepOperators(at: now, limit: limit)
    }
}

extension ClusteredStorage: OperatorFactorStore {
    public func beginFactor(_ secret: [UInt8], of name: String) async throws(StorageError) -> Bool {
        try await home.beginFactor(secret, of: name)
    }

    public func factor(of name: String) async throws(StorageError) -> OperatorFactor? {
        try await home.factor(of: name)
    }

    public func confirmFactor(
        _ secret: [UInt8], of name: String, step: Int64, recoveryCodes: [[UInt8]], at now: Timestamp
    ) async throws(StorageError) -> Bool {
        try await home.confirmFactor(secret, of: name, step: step, recoveryCodes: recoveryCodes, at: now)
    }

    public func useFactor(of name: String, step: Int64) async throws(StorageError) -> Bool {
        try await home.useFactor(of: name, step: step)
    }

    public func useRecoveryCode(_ hash: [UInt8], of name: String) async throws(StorageError) -> Bool {
        try await home.useRecoveryCode(hash, of: name)
    }

    public func removeFactor(of name: String) async throws(StorageError) -> Bool {
        try await home.removeFactor(of: name)
    }
}
