import MartletCore
import MartletModel

/// Counts the registrations of an audience, with one query for each block of channels.
struct AudienceCounter {
    let storage: PostgresStorage
    let query: AudienceCountQuery

    /// The number of channel numbers in a block.
    private static let block: Int64 = 65_536

    func count() async throws(StorageError) -> AudienceCount {
        var count = AudienceCount()
        count.lowestHashes = query.sampling?.lowest
        guard let start = try await storage.ordinals(of: query.hub) else { return count }
        let bounds =
            query.bounds
            ?? AudienceBounds(channel: ChannelID(rawValue: start.channels), registration: start.registrations)
        for platform in try await storage.allPlatforms() where query.platform ?? platform.id == platform.id {
            var counts = AudienceCount.PlatformCounts()
            var first: Int64 = 0
            while first < start.channels {
                let last = first + Self.block
                try await add(platform.number, first, last, bounds, &counts, &count.lowestHashes)
                first = last
            }
            if counts.registrations > 0 { count.platforms[platform.id] = counts }
        }
        let end = try await storage.ordinals(of: query.hub)
        count.isConsistent = end?.changes == start.changes && end?.registrations == start.registrations
        return count
    }

    private func add(
        _ platform: Int32, _ first: Int64, _ last: Int64, _ bounds: AudienceBounds,
        _ counts: inout AudienceCount.PlatformCounts,
        _ lowest: inout LowestHashes?
    ) async throws(StorageError) {
        let natives = try await rows(platform, .native, first, last, bounds)
        let templates = try await rows(platform, .template, first, last, bounds)
        var devices: Set<Int64> = []
        var channels: [Int64] = []
        for index in 0..<(natives?.count ?? 0) {
            guard let channel = natives?.member(index).channel.rawValue else { continue }
            if channels.last == channel {
                counts.skipped += 1
                continue
            }
            channels.append(channel)
            devices.insert(channel)
            counts.native += 1
            if let hash = query.sampling?.hash { lowest?.insert(hash(channel)) }
        }
        if let languages = query.languages {
            let scope = Scope(platform: platform, .native)
            let found = try await LanguageReader(storage: storage, shard: Shard(query.hub), scope: scope)
                .languages(of: channels, languages)
            for channel in channels { counts.languages[found[channel] ?? 0, default: 0] += 1 }
        }
        for index in 0..<(templates?.count ?? 0) {
            guard let templates else { break }
            let member = templates.member(index)
            devices.insert(member.channel.rawValue)
            counts.templates += 1
            if let hash = query.sampling?.hash { lowest?.insert(hash(member.registration)) }
            let id = TemplateBinding.ID(template: templates.template(index), variables: templates.variables(index))
            if counts.renderings[id] != nil || counts.renderings.count < query.renderingLimit {
                counts.renderings[id, default: 0] += 1
            }
        }
        counts.devices += devices.count
    }

    private func rows(
        _ platform: Int32, _ kind: AudienceQuery.Kind, _ first: Int64, _ last: Int64, _ bounds: AudienceBounds
    ) async throws(StorageError) -> MemberRows? {
        guard query.kind ?? kind == kind else { return nil }
        var range = AudienceReader.Range(
            shard: Shard(query.hub), scope: Scope(platform: platform, kind), expression: query.expression,
            after: AudienceMember(channel: ChannelID(rawValue: first), registration: first == 0 ? 0 : .max),
            throughChannel: last, now: query.now, limit: Int(Int32.max), withHandles: false)
        switch kind {
        case .native: range.throughChannel = min(last, bounds.channel.rawValue)
        case .template: range.throughRegistration = bounds.registration
        }
        return try await AudienceReader(storage: storage).rows(range)
    }
}

extension PostgresStorage {
    /// Returns the numbers that were last given to a hub's devices (`Ordinals`); nil if there is no such hub.
    func ordinals(of hub: Hub.ID) async throws(StorageError) -> Ordinals? {
        let rows = try await read(Batch(Ordinals.reading) { $0.add(Shard(hub).number) })[0]
        return rows.count == 1 ? Ordinals(rows[0]) : nil
    }

    func snapshot(of hub: Hub.ID) async throws(StorageError) -> AudienceSnapshot? {
        try await ordinals(of: hub).map { AudienceSnapshot(change: $0.changes, registration: $0.registrations) }
    }
}
