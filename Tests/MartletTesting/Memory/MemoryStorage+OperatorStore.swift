public import MartletCore
public import MartletModel
import Synchronization

extension MemoryStorage: OperatorStore {
    public func hasOperators() async throws(StorageError) -> Bool { state.withLock { !$0.operators.isEmpty } }

    public func operators(at now: Timestamp) async throws(StorageError) -> [OperatorSummary] {
        state.withLock { state in
            state.operators.sorted { $0.key < $1.key }.map { key, entry in
                let links = state.operatorLinks.values.filter {
                    $0.operatorName.lowercased() == key && $0.kind == .invitation && $0.expiresAt > now
                }
                let sessions = state.operatorSessions.values.filter {
                    $0.operatorName.lowercased() == key && now < $0.idleUntil
                }
                return OperatorSummary(
                    entry: entry, sessions: sessions.count, invitedUntil: links.map(\.expiresAt).max())
            }
        }
    }

    public func `operator`(_ name: String) async throws(StorageError) -> Operator? {
        state.withLock { $0.operators[name.lowercased()] }
    }

    public func invite(_ entry: Operator, by link: OperatorLink) async throws(StorageError) {
        state.withLock { state in
            let key = entry.name.lowercased()
            state.operators[key] = state.operators[key] ?? entry
            _ = state.add(link)
        }
    }

    public func addLink(_ link: OperatorLink) async throws(StorageError) -> Bool { state.withLock { $0.add(link) } }

    public func link(tokenHash: [UInt8], at now: Timestamp) async throws(StorageError) -> (OperatorLink, Operator)? {
        state.withLock { $0.link(tokenHash, at: now) }
    }

    public func useLink(
        tokenHash: [UInt8], passwordHash: String?, adding session: OperatorSession
    ) async throws(StorageError) -> Operator? {
        state.withLock { state in
            guard let (_, entry) = state.link(tokenHash, at: session.createdAt) else { return nil }
            state.operatorLinks[tokenHash] = nil
            let key = entry.name.lowercased()
            if let passwordHash {
                state.operators[key]?.passwordHash = passwordHash
                state.endOperatorSessions(of: key, except: nil)
            }
            var added = session
            added.operatorName = entry.name
            state.add(added)
            return state.operators[key]
        }
    }

    public func addSession(_ session: OperatorSession, ofPassword hash: String) async throws(StorageError) -> Bool {
        state.withLock { state in
            guard let entry = state.operators[session.operatorName.lowercased()], !entry.isDisabled,
                entry.passwordHash == hash
            else { return false }
            state.add(session)
            return true
        }
    }

    public func enter(
        _ visit: ProviderVisit, adding session: OperatorSession, orConfirming confirmed: [UInt8]?
    ) async throws(StorageError) -> ProviderVisitResult {
        state.withLock { state in
            let known = state.operators.values.first { $0.identity == visit.identity }
            if let known, known.isDisabled { return .disabled(known.name) }
            guard !visit.roles.isEmpty else {
                guard let known else { return .noRole(nil) }
                state.operators[known.name.lowercased()]?.roles = visit.roles
                state.endOperatorSessions(of: known.name.lowercased(), except: nil)
                return .noRole(known.name)
            }
            let isFull = state.operators.count >= visit.countLimit
            let free = isFull ? nil : visit.names.first { state.operators[$0.lowercased()] == nil }
            guard let name = known?.name ?? free else { return .tooMany }
            let key = name.lowercased()
            if let known, known.roles != visit.roles { state.endOperatorSessions(of: key, except: nil) }
            var entry =
                known
                ?? Operator(name: name, roles: visit.roles, createdAt: session.createdAt, identity: visit.identity)
            entry.roles = visit.roles
            state.operators[key] = entry
            if let confirmed, var old = state.operatorSessions[confirmed], old.operatorName.lowercased() == key {
                old.usedAt = max(old.usedAt, session.createdAt)
                old.confirmedAt = session.confirmedAt
                state.operatorSessions[confirmed] = old
                return .entered(entry, old)
            }
            var opened = session
            opened.operatorName = name
            state.add(opened)
            return .entered(entry, opened)
        }
    }

    public func operatorSession(tokenHash: [UInt8]) async throws(StorageError) -> (OperatorSession, Operator)? {
        state.withLock { state in
            guard let session = state.operatorSessions[tokenHash],
                let entry = state.operators[session.operatorName.lowercased()]
            else { return nil }
            return (session, entry)
        }
    }

    public func touchSession(tokenHash: [UInt8], at now: Timestamp, isConfirmed: Bool) async throws(StorageError) {
        state.withLock { state in
            guard let session = state.operatorSessions[tokenHash] else { return }
            state.operatorSessions[tokenHash]?.usedAt = max(session.usedAt, now)
            if isConfirmed { state.operatorSessions[tokenHash]?.confirmedAt = now }
        }
    }

    public func operatorSessions(of name: String) async throws(StorageError) -> [OperatorSession] {
        state.withLock { state in
            state.operatorSessions.values.filter { $0.operatorName.lowercased() == name.lowercased() }
                .sorted { $0.createdAt > $1.createdAt }
        }
    }

    public func removeOperatorSession(tokenHash: [UInt8]) async throws(StorageError) -> Bool {
        state.withLock { $0.operatorSessions.removeValue(forKey: tokenHash) != nil }
    }

    public func endSessions(of name: String, except kept: [UInt8]?) async throws(StorageError) -> Bool {
        state.withLock { state in
            state.endOperatorSessions(of: name.lowercased(), except: kept)
            return state.operators[name.lowercased()] != nil
        }
    }

    public func change(_ name: String, _ change: OperatorChange) async throws(StorageError) -> OperatorChangeResult {
        state.withLock { state in
            let key = name.lowercased()
            guard let before = state.operators[key] else { return .notFound }
            let after = before.changed(change)
            let admins = state.operators.values.count(where: \.isActiveAdmin)
            if before.isActiveAdmin, !after.isActiveAdmin, admins < 2 { return .isLastAdmin }
            state.operators[key] = after
            if after.isDisabled { state.endOperatorSessions(of: key, except: nil) }
            if after.roles != before.roles {
                state.operatorSessions = state.operatorSessions.filter { $0.value.operatorName.lowercased() != key }
            }
            return .changed(after)
        }
    }

    public func begin(_ action: OperatorAction) async throws(StorageError) -> OperatorAction.ID {
        state.withLock { state in
            state.operatorActions.append(action)
            return OperatorAction.ID(rawValue: Int64(state.operatorActions.count))
        }
    }

    public func end(_ id: OperatorAction.ID, answer: Int, subject: String?) async throws(StorageError) {
        state.withLock { state in
            let index = Int(id.rawValue) - 1
            state.operatorActions[index].answer = answer
            if let subject { state.operatorActions[index].subject = subject }
        }
    }

    public func actions(
        _ query: OperatorActionQuery
    ) async throws(StorageError) -> [(OperatorAction.ID, OperatorAction)] {
        state.withLock { state in
            let entries = state.operatorActions.enumerated().map { index, action in
                (OperatorAction.ID(rawValue: Int64(index) + 1), action)
            }
            let found = entries.reversed().filter { id, action in
                id.rawValue < query.before?.rawValue ?? .max
                    && query.operatorName.map { $0 == action.operatorName } ?? true
            }
            return Array(found.prefix(query.limit))
        }
    }

    public func sweepOperators(at now: Timestamp, limit: Int) async throws(StorageError) {
        state.withLock { state in
            state.operatorLinks = state.operatorLinks.filter { $0.value.expiresAt > now }
            state.operatorSessions = state.operatorSessions.filter { now < $0.value.idleUntil }
        }
    }
}

extension MemoryStorage: OperatorFactorStore {
    public func beginFactor(_ secret: [UInt8], of name: String) async throws(StorageError) -> Bool {
        state.withLock { state in
            let key = name.lowercased()
            guard state.operators[key] != nil, state.operatorFactors[key]?.factor.confirmedAt == nil else {
                return false
            }
            let factor = OperatorFactor(secret: secret, confirmedAt: nil, lastStep: 0, recoveryCodes: 0)
            state.operatorFactors[key] = (factor, [])
            return true
        }
    }

    public func factor(of name: String) async throws(StorageError) -> OperatorFactor? {
        state.withLock { state in
            guard let (stored, codes) = state.operatorFactors[name.lowercased()] else { return nil }
            var factor = stored
            factor.recoveryCodes = codes.count
            return factor
        }
    }

    public func confirmFactor(
        _ secret: [UInt8], of name: String, step: Int64, recoveryCodes: [[UInt8]], at now: Timestamp
    ) async throws(StorageError) -> Bool {
        state.withLock { state in
            let key = name.lowercased()
            guard var factor = state.operatorFactors[key]?.factor, factor.confirmedAt == nil, factor.secret == secret
            else { return false }
            factor.confirmedAt = now
            factor.lastStep = step
            state.operatorFactors[key] = (factor, Set(recoveryCodes))
            state.operators[key]?.hasFactor = true
            return true
        }
    }

    public func useFactor(of name: String, step: Int64) async throws(StorageError) -> Bool {
        state.withLock { state in
            guard let factor = state.operatorFactors[name.lowercased()]?.factor, factor.confirmedAt != nil,
                factor.lastStep < step
            else { return false }
            state.operatorFactors[name.lowercased()]?.factor.lastStep = step
            return true
        }
    }

    public func useRecoveryCode(_ hash: [UInt8], of name: String) async throws(StorageError) -> Bool {
        state.withLock { $0.operatorFactors[name.lowercased()]?.codes.remove(hash) != nil }
    }

    public func removeFactor(of name: String) async throws(StorageError) -> Bool {
        state.withLock { state in
            state.operatorFactors[name.lowercased()] = nil
            state.operators[name.lowercased()]?.hasFactor = false
            return state.operators[name.lowercased()] != nil
        }
    }
}

extension MemoryStorage: MetricHourStore {
    public func putHour(_ hour: Timestamp, figures: String) async throws(StorageError) {
        state.withLock { $0.metricHours[hour] = figures }
    }

    public func hours(since timestamp: Timestamp) async throws(StorageError) -> [(Timestamp, String)] {
        state.withLock { state in
            state.metricHours.filter { $0.key >= timestamp }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        }
    }
}

extension MemoryState {
    fileprivate mutating func add(_ link: OperatorLink) -> Bool {
        let key = link.operatorName.lowercased()
        guard operators[key] != nil else { return false }
        operatorLinks = operatorLinks.filter { $0.value.operatorName.lowercased() != key || $0.value.kind != link.kind }
        operatorLinks[link.tokenHash] = link
        return true
    }

    fileprivate func link(_ tokenHash: [UInt8], at now: Timestamp) -> (OperatorLink, Operator)? {
        guard let link = operatorLinks[tokenHash], link.expiresAt > now,
            let entry = operators[link.operatorName.lowercased()], !entry.isDisabled, entry.identity == nil
        else { return nil }
        return (link, entry)
    }

    fileprivate mutating func add(_ session: OperatorSession) {
        let key = session.operatorName.lowercased()
        operatorSessions[session.tokenHash] = session
        let surplus = operatorSessions.values.filter {
            $0.operatorName.lowercased() == key && $0.tokenHash != session.tokenHash
        }.sorted { $0.usedAt > $1.usedAt }.dropFirst(OperatorSession.countLimit - 1)
        for session in surplus { operatorSessions[session.tokenHash] = nil }
        operators[key]?.signedInAt = session.createdAt
    }

    fileprivate mutating func endOperatorSessions(of key: String, except kept: [UInt8]?) {
        operatorSessions = operatorSessions.filter { $0.value.operatorName.lowercased() != key || $0.key == kept }
        operatorLinks = operatorLinks.filter { $0.value.operatorName.lowercased() != key }
    }
}

extension Operator {
    fileprivate func changed(_ change: OperatorChange) -> Operator {
        var entry = self
        switch change {
        case .roles(let roles): entry.roles = roles
        case .isDisabled(let isDisabled): entry.isDisabled = isDisabled
        case .passwordHash(let hash): entry.passwordHash = hash
        case .settings(let settings): entry.settings = settings
        }
        return entry
    }
}
