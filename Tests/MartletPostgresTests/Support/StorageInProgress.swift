import MartletCore
import MartletModel
import MartletPostgres

/// A storage on PostgreSQL for the conformance suite, as far as it is built.
struct StorageInProgress: Sendable {
    let built: PostgresStorage
}

extension StorageInProgress: HubStore {
    func hubs() async throws(StorageError) -> [Hub] { try await built.hubs() }

    func createHub(name: String, settings: HubSettings, at now: Timestamp) async throws(StorageError) -> Hub? {
        try await built.createHub(name: name, settings: settings, at: now)
    }

    func updateHub(_ id: Hub.ID, settings: HubSettings, at now: Timestamp) async throws(StorageError) -> Bool {
        try await built.updateHub(id, settings: settings, at: now)
    }

    func deleteHub(_ id: Hub.ID) async throws(StorageError) -> Bool { try await built.deleteHub(id) }
    func backendHub() async throws(StorageError) -> Hub.ID? { try await built.backendHub() }
    func setBackendHub(_ id: Hub.ID) async throws(StorageError) { try await built.setBackendHub(id) }
    func namespaceRules() async throws(StorageError) -> [AccessRule] { try await built.namespaceRules() }

    func setNamespaceRules(_ rules: [AccessRule]) async throws(StorageError) {
        try await built.setNamespaceRules(rules)
    }
}

extension StorageInProgress: DeviceStore {
    func apply(
        _ changes: [RegistrationChange], in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> [Result<Registration, RegistrationRefusal>] {
        try await built.apply(changes, in: hub, at: now)
    }

    func registration(_ id: String, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Registration? {
        try await built.registration(id, in: hub, at: now)
    }

    func registrations(_ query: RegistrationQuery) async throws(StorageError) -> RegistrationPage {
        try await built.registrations(query)
    }

    func audience(_ query: AudienceQuery) async throws(StorageError) -> AudiencePage { try await built.audience(query) }

    func audienceCount(_ query: AudienceCountQuery) async throws(StorageError) -> AudienceCount {
        try await built.audienceCount(query)
    }

    func renderings(_ ids: [TemplateBinding.ID], in hub: Hub.ID) async throws(StorageError) -> [TemplateBinding] {
        try await built.renderings(ids, in: hub)
    }

    func tags(beginningWith prefix: String, of query: AudienceQuery) async throws(StorageError) -> TagPage {
        try await built.tags(beginningWith: prefix, of: query)
    }

    func tags(beginningWith prefix: String, in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Tag] {
        try await built.tags(beginningWith: prefix, in: hub, limit: limit)
    }

    func apply(_ feedback: [ChannelFeedback], in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> Int {
        try await built.apply(feedback, in: hub, at: now)
    }

    func suspectedStale(
        of platform: PlatformID, in hub: Hub.ID, limit: Int
    ) async throws(StorageError) -> [ChannelID] {
        try await built.suspectedStale(of: platform, in: hub, limit: limit)
    }

    func apply(
        _ change: InstallationChange, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Result<InstallationRecord, RegistrationRefusal> {
        try await built.apply(change, in: hub, at: now)
    }

    func installation(
        _ id: String, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> InstallationRecord? {
        try await built.installation(id, in: hub, at: now)
    }
}

extension StorageInProgress: DeviceKeyStore {
    func putDeviceKey(
        _ key: DeviceKey?, of registration: String, tagged tag: Tag, in hub: Hub.ID
    ) async throws(StorageError) -> Bool {
        try await built.putDeviceKey(key, of: registration, tagged: tag, in: hub)
    }

    func deviceKeys(
        of tag: Tag, in hub: Hub.ID, at now: Timestamp, limit: Int
    ) async throws(StorageError) -> [KeyedDevice] {
        try await built.deviceKeys(of: tag, in: hub, at: now, limit: limit)
    }

    func past(of device: String, in hub: Hub.ID) async throws(StorageError) -> RegistrationPast {
        try await built.past(of: device, in: hub)
    }
}

extension StorageInProgress: UserStore {
    func putUser(_ user: User) async throws(StorageError) { try await built.putUser(user) }
    func user(_ name: String) async throws(StorageError) -> User? { try await built.user(name) }

    func users(
        beginningWith prefix: String, after last: String?, limit: Int
    ) async throws(StorageError) -> [User] {
        try await built.users(beginningWith: prefix, after: last, limit: limit)
    }

    func addRole(_ role: String, to name: String) async throws(StorageError) -> Bool {
        try await built.addRole(role, to: name)
    }

    func removeRole(_ role: String, from name: String) async throws(StorageError) -> Bool {
        try await built.removeRole(role, from: name)
    }

    func removeUser(_ name: String) async throws(StorageError) -> Bool { try await built.removeUser(name) }
    func addSession(_ session: Session) async throws(StorageError) { try await built.addSession(session) }

    func session(tokenHash: [UInt8], at now: Timestamp) async throws(StorageError) -> Session? {
        try await built.session(tokenHash: tokenHash, at: now)
    }

    func removeSession(tokenHash: [UInt8]) async throws(StorageError) -> Bool {
        try await built.removeSession(tokenHash: tokenHash)
    }
}

extension StorageInProgress: SendRecordStore, MetricHourStore {
    func sendRecord(_ key: [UInt8], at now: Timestamp) async throws(StorageError) -> SendRecord? {
        try await built.sendRecord(key, at: now)
    }

    func addSendRecord(_ record: SendRecord) async throws(StorageError) -> SendRecord {
        try await built.addSendRecord(record)
    }

    func completeSend(_ key: [UInt8]) async throws(StorageError) { try await built.completeSend(key) }
    func removeSendRecord(_ key: [UInt8]) async throws(StorageError) { try await built.removeSendRecord(key) }

    func putHour(_ hour: Timestamp, figures: String) async throws(StorageError) {
        try await built.putHour(hour, figures: figures)
    }

    func hours(since timestamp: Timestamp) async throws(StorageError) -> [(Timestamp, String)] {
        try await built.hours(since: timestamp)
    }
}
