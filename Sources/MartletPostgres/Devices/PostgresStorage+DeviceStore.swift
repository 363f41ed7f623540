public import MartletCore
public import MartletModel

extension PostgresStorage: DeviceStore {
    public func apply(
        _ changes: [RegistrationChange], in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> [Result<Registration, RegistrationRefusal>] {
        guard !changes.isEmpty else { return [] }
        let shard = Shard(hub)
        let platforms = try await numbers(of: changes)
        // A stored registration may be of another platform and kind than the draft that replaces it.
        let scopes = changes.contains(where: \.isForTagged) ? try await allPlatforms().flatMap(\.scopes) : []
        var needs = DeviceNeeds()
        for change in changes { needs.add(change, platforms, scopes, in: shard) }
        let results = try await write(to: shard, needs) { set in
            changes.map { set.apply($0, platforms, at: now) }
        }
        // The tags of drafts are in the cache. The tags of deleted registrations may have to be read, as well as
        // templates and push variables.
        let stored = results.compactMap { try? $0.get() }
        var registrations = try await registrations(stored, in: shard)[...]
        return results.map { result in
            switch result {
            case .success: .success(registrations.removeFirst())
            case .failure(let refusal): .failure(refusal)
            }
        }
    }

    public func registration(
        _ id: String, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Registration? {
        let shard = Shard(hub)
        let batch = Batch(DeviceReads.byID) {
            $0.add(shard.number)
            $0.add([StoredForm.id(id)])
        }
        let rows = try await read(batch)[0]
        guard rows.count == 1 else { return nil }
        let stored = StoredRegistration(rows[0])
        return stored.isExpired(at: now) ? nil : try await registrations([stored], in: shard).first
    }

    public func registrations(_ query: RegistrationQuery) async throws(StorageError) -> RegistrationPage {
        let shard = Shard(query.hub)
        // Reads one row more than the page holds. Without that row, the page is the last one.
        let rows = try await readPage(try await listing(query, in: shard))[0]
        let stored = (0..<rows.count).map { StoredRegistration(rows[$0]) }
        var page: [Registration] = []
        var bytes = 0
        for registration in try await registrations(stored, in: shard) {
            guard page.count < query.limit, bytes < query.byteLimit else { break }
            page.append(registration)
            bytes += registration.memoryBytes
        }
        return RegistrationPage(
            registrations: page, next: stored.count > page.count ? stored.prefix(page.count).last?.sequence : nil)
    }

    private func listing(_ query: RegistrationQuery, in shard: Shard) async throws(StorageError) -> Batch {
        func addBounds(_ parameters: inout Parameters) {
            parameters.add(shard.number)
            parameters.add(query.after ?? 0)
            parameters.add(query.now)
            parameters.add(Int64(query.limit) + 1)
        }
        switch query.filter {
        case .all: return Batch(ListingStatements.all) { addBounds(&$0) }
        case .tag(let tag):
            return Batch(ListingStatements.byTag) {
                addBounds(&$0)
                $0.add(tag.folded)
            }
        case .handle(let platform, let key):
            let platforms = try await allPlatforms().filter { $0.id == platform ?? $0.id }
            return Batch(ListingStatements.byHandle) {
                addBounds(&$0)
                $0.add(platforms.map { HandleKey(platform: $0.number, key: key).bytes })
            }
        }
    }

    public func renderings(_ ids: [TemplateBinding.ID], in hub: Hub.ID) async throws(StorageError) -> [TemplateBinding]
    {
        let contents = try await contents(
            Set(ids.flatMap { [$0.template, $0.variables] }).subtracting([0]), in: Shard(hub))
        var found: [TemplateBinding] = []
        for id in ids {
            guard let template = contents[id.template] else { continue }
            var variables: [String: String] = [:]
            if id.variables != 0 {
                guard let bytes = contents[id.variables] else { continue }
                variables = try ContentCoding.variables(bytes)
            }
            found.append(
                TemplateBinding(id: id, template: try ContentCoding.template(template), variables: variables))
        }
        return found
    }

    public func apply(
        _ feedback: [ChannelFeedback], in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Int {
        guard !feedback.isEmpty else { return 0 }
        var needs = DeviceNeeds()
        needs.add(feedback)
        return try await write(to: Shard(hub), needs) { $0.apply(feedback, at: now) }
    }

    public func suspectedStale(
        of platform: PlatformID, in hub: Hub.ID, limit: Int
    ) async throws(StorageError) -> [ChannelID] {
        guard let number = try await number(of: platform) else { return [] }
        let batch = Batch(ListingStatements.suspected) {
            $0.add(Shard(hub).number)
            $0.add(number)
            $0.add(Int64(limit))
        }
        let rows = try await read(batch)[0]
        return (0..<rows.count).map { ChannelID(rawValue: rows[$0].integer(0)) }
    }

    /// Returns the numbers of the platforms of the drafts in some changes.
    func numbers(of changes: [RegistrationChange]) async throws(StorageError) -> [PlatformID: Int32] {
        try await numbers(of: changes.compactMap(\.draft?.platform))
    }

    /// Makes a write in the next transaction of a shard.
    /// - Parameter apply: Applies the write. May run twice, so it must have no effect other than on the set. If it
    ///   throws, nothing is written.
    func write<Value: Sendable>(
        to shard: Shard, _ needs: DeviceNeeds,
        _ apply: @escaping @Sendable (inout DeviceSet) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let result: Result<Value, StorageError> = await withCheckedContinuation { caller in
            let fail: @Sendable (StorageError) -> Void = { caller.resume(returning: .failure($0)) }
            let write = DeviceWrite(
                needs: needs,
                apply: { set throws(StorageError) in
                    let value = try apply(&set)
                    return { caller.resume(returning: .success(value)) }
                }, fail: fail, cache: cache)
            devices.submit(write, to: shard, fail: fail)
        }
        return try result.get()
    }
}

extension PostgresStorage: InstallationStore {
    public func apply(
        _ change: InstallationChange, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Result<InstallationRecord, RegistrationRefusal> {
        let shard = Shard(hub)
        var needs = DeviceNeeds()
        switch change {
        case .put(let draft, let condition):
            let platforms = try await numbers(of: draft.rows.map(\.registration.platform))
            needs.installations = [draft.id]
            let rows = draft.rows.map { row in
                var registration = row.registration
                registration.expiresAt = draft.expiresAt
                return (
                    slot: row.slot,
                    placed: PlacedDraft(draft: registration, platform: platforms[registration.platform] ?? 0)
                )
            }
            for row in rows { needs.add(row.placed.draft, on: row.placed.platform, in: shard) }
            let placed = PlacedInstallation(draft: draft, rows: rows)
            return try await write(to: shard, needs) { $0.put(placed, condition, at: now) }.map(\.record)
        case .delete(let id, let condition):
            needs.installations = [id]
            return try await write(to: shard, needs) { $0.deleteInstallation(id, condition, at: now) }.map(\.record)
        }
    }

    public func installation(
        _ id: String, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> InstallationRecord? {
        var batch = Batch()
        for statement in [DeviceReads.installationsByID, DeviceReads.byInstallation] {
            batch.add(statement) {
                $0.add(Shard(hub).number)
                $0.add([Array(id.utf8)])
            }
        }
        let rows = try await read(batch)
        guard rows[0].count == 1 else { return nil }
        let installation = StoredInstallation(rows[0][0])
        guard !installation.isExpired(at: now) else { return nil }
        let registrations = (0..<rows[1].count).map { StoredRegistration(rows[1][$0]) }
        let handles = registrations.compactMap { stored in stored.row.map { ($0.slot, stored.handle) } }
        return InstallationResult(
            id: id, installation: installation, handles: Dictionary(handles) { first, _ in first }
        ).record
    }
}

extension RegistrationChange {
    /// The draft that is put or merged; nil for a deletion.
    fileprivate var draft: RegistrationDraft? {
        switch self {
        case .put(let draft, _, _): draft
        case .delete: nil
        case .merge(let merge): merge.row.registration
        }
    }
}

extension RegistrationChange {
    fileprivate var isForTagged: Bool {
        switch self {
        case .put(_, _, .tagged), .delete(_, .tagged): true
        default: false
        }
    }
}

extension DeviceNeeds {
    /// - Parameter scopes: The scopes in which a condition `.tagged` looks up its tag, because the stored registration
    ///   may be in any of them.
    mutating func add(
        _ change: RegistrationChange, _ platforms: [PlatformID: Int32], _ scopes: [Scope], in shard: Shard
    ) {
        if let draft = change.draft { add(draft, on: platforms[draft.platform] ?? 0, in: shard) }
        switch change {
        case .put(_, let id, let condition), .delete(let id, let condition):
            registrations.insert(id)
            guard case .tagged(let tag) = condition else { return }
            tags.formUnion(scopes.map { TagKey(scope: $0, shard: shard, name: tag.folded) })
        case .merge(let merge):
            installations.insert(merge.part.installation)
            if let id = merge.registrationID { registrations.insert(id) }
        }
    }
}

extension DeviceSet {
    mutating func apply(
        _ change: RegistrationChange, _ platforms: [PlatformID: Int32], at now: Timestamp
    ) -> Result<StoredRegistration, RegistrationRefusal> {
        switch change {
        case .put(let draft, let id, let condition):
            put(PlacedDraft(draft: draft, platform: platforms[draft.platform] ?? 0), id: id, condition, at: now)
        case .delete(let id, let condition): delete(id, condition, at: now)
        case .merge(let merge):
            self.merge(
                merge,
                PlacedDraft(draft: merge.row.registration, platform: platforms[merge.row.registration.platform] ?? 0),
                at: now)
        }
    }
}

enum ListingStatements {
    private static let bounds = "r.sequence > $2 AND (r.expires_at IS NULL OR r.expires_at > $3)"

    static let all = Statement.hot(
        [.int4, .int8, .int8, .int8],
        """
        SELECT \(StoredRegistration.columns)
        FROM registrations r LEFT JOIN installations i ON i.shard = $1 AND i.sequence = r.installation
        WHERE r.shard = $1 AND \(bounds) ORDER BY r.sequence LIMIT $4
        """)

    /// Finds the members of the tag first, and then sorts them. If the query read registrations in the order of the
    /// listing, it might read the whole hub to find a few members.
    static let byTag = Statement.hot(
        [.int4, .int8, .int8, .int8, .text],
        """
        WITH member AS MATERIALIZED (
            SELECT r.sequence FROM registrations r WHERE r.shard = $1 AND \(bounds)
                AND r.tags && ARRAY(SELECT t.id FROM tags t WHERE t.shard = $1 AND t.name = $5)
            ORDER BY r.sequence + 0 LIMIT $4
        )
        SELECT \(StoredRegistration.columns)
        FROM member m JOIN registrations r ON r.shard = $1 AND r.sequence = m.sequence
            LEFT JOIN installations i ON i.shard = $1 AND i.sequence = r.installation
        ORDER BY r.sequence
        """)

    static let byHandle = Statement.hot(
        [.int4, .int8, .int8, .int8, .bytesArray],
        """
        SELECT \(StoredRegistration.columns)
        FROM channels h JOIN registrations r ON r.shard = $1 AND r.channel = h.channel
                AND r.scope = ANY(ARRAY[h.platform * 2, h.platform * 2 + 1])
            LEFT JOIN installations i ON i.shard = $1 AND i.sequence = r.installation
        WHERE h.shard = $1 AND h.hash = ANY(ARRAY(SELECT substr(sha256(k), 1, 16) FROM unnest($5) k)) AND \(bounds)
        ORDER BY r.sequence LIMIT $4
        """)

    static let suspected = Statement.hot(
        [.int4, .int4, .int8],
        """
        SELECT channel FROM channels WHERE shard = $1 AND platform = $2 AND is_suspected ORDER BY channel LIMIT $3
        """)
}
