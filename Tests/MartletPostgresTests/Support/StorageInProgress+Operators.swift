import MartletCore
import MartletModel
import MartletPostgres

extension StorageInProgress: OperatorStore {
    func hasOperators() async throws(StorageError) -> Bool {
        try await built.hasOperators()
    }

    func operators(at now: Timestamp) async throws(StorageError) -> [OperatorSummary] {
        try await built.operators(at: now)
    }

    func `operator`(_ name: String) async throws(StorageError) -> Operator? {
        try await built.`operator`(name)
    }

    func invite(_ entry: Operator, by link: OperatorLink) async throws(StorageError) {
        try await built.invite(entry, by: link)
    }

    func addLink(_ link: OperatorLink) async throws(StorageError) -> Bool {
        try await built.addLink(link)
    }

    func link(tokenHash: [UInt8], at now: Timestamp) async throws(StorageError) -> (OperatorLink, Operator)? {
        try await built.link(tokenHash: tokenHash, at: now)
    }

    func useLink(
        tokenHash: [UInt8], passwordHash: String?, adding session: OperatorSession
    ) async throws(StorageError) -> Operator? {
        try await built.useLink(tokenHash: tokenHash, passwordHash: passwordHash, adding: session)
    }

    func addSession(_ session: OperatorSession, ofPassword hash: String) async throws(StorageError) -> Bool {
        try await built.addSession(session, ofPassword: hash)
    }

    func operatorSession(tokenHash: [UInt8]) async throws(StorageError) -> (OperatorSession, Operator)? {
        try await built.operatorSession(tokenHash: tokenHash)
    }

    func touchSession(tokenHash: [UInt8], at now: Timestamp, isConfirmed: Bool) async throws(StorageError) {
        try await built.touchSession(tokenHash: tokenHash, at: now, isConfirmed: isConfirmed)
    }

    func operatorSessions(of name: String) async throws(StorageError) -> [OperatorSession] {
        try await built.operatorSessions(of: name)
    }

    func removeOperatorSession(tokenHash: [UInt8]) async throws(StorageError) -> Bool {
        try await built.removeOperatorSession(tokenHash: tokenHash)
    }

    func endSessions(of name: String, except kept: [UInt8]?) async throws(StorageError) -> Bool {
        try await built.endSessions(of: name, except: kept)
    }

    func change(_ name: String, _ change: OperatorChange) async throws(StorageError) -> OperatorChangeResult {
        try await built.change(name, change)
    }

    func begin(_ action: OperatorAction) async throws(StorageError) -> OperatorAction.ID {
        try await built.begin(action)
    }

    func end(_ id: OperatorAction.ID, answer: Int, subject: String?) async throws(StorageError) {
        try await built.end(id, answer: answer, subject: subject)
    }

    func actions(_ query: OperatorActionQuery) async throws(StorageError) -> [(OperatorAction.ID, OperatorAction)] {
        try await built.actions(query)
    }

    func sweepOperators(at now: Timestamp, limit: Int) async throws(StorageError) {
        try await built.sweepOperators(at: now, limit: limit)
    }
}

extension StorageInProgress: OperatorFactorStore {
    func beginFactor(_ secret: [UInt8], of name: String) async throws(StorageError) -> Bool {
        try await built.beginFactor(secret, of: name)
    }

    func factor(of name: String) async throws(StorageError) -> OperatorFactor? {
        try await built.factor(of: name)
    }

    func confirmFactor(
        _ secret: [UInt8], of name: String, step: Int64, recoveryCodes: [[UInt8]], at now: Timestamp
    ) async throws(StorageError) -> Bool {
        try await built.confirmFactor(secret, of: name, step: step, recoveryCodes: recoveryCodes, at: now)
    }

    func useFactor(of name: String, step: Int64) async throws(StorageError) -> Bool {
        try await built.useFactor(of: name, step: step)
    }

    func useRecoveryCode(_ hash: [UInt8], of name: String) async throws(StorageError) -> Bool {
        try await built.useRecoveryCode(hash, of: name)
    }

    func removeFactor(of name: String) async throws(StorageError) -> Bool {
        try await built.removeFactor(of: name)
    }
}
