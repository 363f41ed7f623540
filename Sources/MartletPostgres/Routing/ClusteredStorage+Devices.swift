public import MartletCore
public import MartletModel

// Devices, campaigns and jobs are in the cluster of their hub.

extension ClusteredStorage: DeviceStore {
    public func apply(
        _ changes: [RegistrationChange], in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> [Result<Registration, RegistrationRefusal>] {
        try await storage(of: hub).apply(changes, in: hub, at: now)
    }

    public func registration(
        _ id: String, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Registration? {
        try await storage(of: hub).registration(id, in: hub, at: now)
    }

    public func registrations(_ query: RegistrationQuery) async throws(StorageError) -> RegistrationPage {
        try await storage(of: query.hub).registrations(query)
    }

    public func audience(_ query: AudienceQuery) async throws(StorageError) -> AudiencePage {
        try await storage(of: query.hub).audience(query)
    }

    public func audienceCount(_ query: AudienceCountQuery) async throws(StorageError) -> AudienceCount {
        try await storage(of: query.hub).audienceCount(query)
    }

    public func renderings(_ ids: [TemplateBinding.ID], in hub: Hub.ID) async throws(StorageError) -> [TemplateBinding]
    {
        try await storage(of: hub).renderings(ids, in: hub)
    }

    public func tags(beginningWith prefix: String, of query: AudienceQuery) async throws(StorageError) -> TagPage {
        try await storage(of: query.hub).tags(beginningWith: prefix, of: query)
    }

    public func tags(beginningWith prefix: String, in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Tag] {
        try await storage(of: hub).tags(beginningWith: prefix, in: hub, limit: limit)
    }

    public func apply(
        _ feedback: [ChannelFeedback], in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Int {
        try await storage(of: hub).apply(feedback, in: hub, at: now)
    }

    public func suspectedStale(
        of platform: PlatformID, in hub: Hub.ID, limit: Int
    ) async throws(StorageError) -> [ChannelID] {
        try await storage(of: hub).suspectedStale(of: platform, in: hub, limit: limit)
    }
}

extension ClusteredStorage: InstallationStore {
    public func apply(
        _ change: InstallationChange, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Result<InstallationRecord, RegistrationRefusal> {
        try await storage(of: hub).apply(change, in: hub, at: now)
    }

    public func installation(
        _ id: String, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> InstallationRecord? {
        try await storage(of: hub).installation(id, in: hub, at: now)
    }
}

extension ClusteredStorage: DeviceKeyStore {
    @discardableResult
    public func putDeviceKey(
        _ key: DeviceKey?, of registration: String, tagged tag: Tag, in hub: Hub.ID
    ) async throws(StorageError) -> Bool {
        try await storage(of: hub).putDeviceKey(key, of: registration, tagged: tag, in: hub)
    }

    public func deviceKeys(
        of tag: Tag, in hub: Hub.ID, at now: Timestamp, limit: Int
    ) async throws(StorageError) -> [KeyedDevice] {
        try await storage(of: hub).deviceKeys(of: tag, in: hub, at: now, limit: limit)
    }
}

extension ClusteredStorage: CampaignStore {
    public func campaigns(in hub: Hub.ID, before id: Campaign.ID?, limit: Int) async throws(StorageError) -> [Campaign]
    {
        try await storage(of: hub).campaigns(in: hub, before: id, limit: limit)
    }

    public func campaign(_ id: Campaign.ID, in hub: Hub.ID) async throws(StorageError) -> Campaign? {
        try await storage(of: hub).campaign(id, in: hub)
    }

    public func addCampaign(_ text: CampaignText, in hub: Hub.ID) async throws(StorageError) -> Campaign? {
        try await storage(of: hub).addCampaign(text, in: hub)
    }

    public func change(
        _ id: Campaign.ID, in hub: Hub.ID, version: Int64, to text: CampaignText
    ) async throws(StorageError) -> CampaignChange {
        try await storage(of: hub).change(id, in: hub, version: version, to: text)
    }

    public func recordSend(
        _ send: NotificationID, of id: Campaign.ID, in hub: Hub.ID
    ) async throws(StorageError) -> CampaignChange {
        try await storage(of: hub).recordSend(send, of: id, in: hub)
    }

    public func removeCampaign(_ id: Campaign.ID, in hub: Hub.ID) async throws(StorageError) -> Bool {
        try await storage(of: hub).removeCampaign(id, in: hub)
    }
}

extension ClusteredStorage: JobStore {
    public func createJob(_ job: Job) async throws(StorageError) {
        try await storage(of: job.hub).createJob(job)
    }

    public func job(_ id: String, in hub: Hub.ID) async throws(StorageError) -> Job? {
        try await storage(of: hub).job(id, in: hub)
    }

    public func jobs(in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Job] {
        try await storage(of: hub).jobs(in: hub, limit: limit)
    }

    @discardableResult
    public func record(_ progress: JobProgress) async throws(StorageError) -> Bool {
        try await storage(of: progress.job.hub).record(progress)
    }

    public func apply(
        _ changes: [RegistrationChange], of job: String, in hub: Hub.ID, after line: Int64, at now: Timestamp,
        _ progress: @escaping @Sendable ([Result<Registration, RegistrationRefusal>]) -> JobProgress
    ) async throws(StorageError) -> JobProgress? {
        try await storage(of: hub).apply(changes, of: job, in: hub, after: line, at: now, progress)
    }

    public func registrationCount(in hub: Hub.ID) async throws(StorageError) -> Int64 {
        try await storage(of: hub).registrationCount(in: hub)
    }
}
