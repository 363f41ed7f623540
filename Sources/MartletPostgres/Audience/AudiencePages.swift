import MartletCore
import MartletModel

/// Makes a page of an audience from the rows of its registrations.
struct AudiencePages {
    let storage: PostgresStorage
    let query: AudienceQuery

    func page() async throws(StorageError) -> AudiencePage {
        guard let number = try await storage.number(of: query.platform) else {
            var page = AudiencePage()
            page.snapshot = try await storage.snapshot(of: query.hub) ?? .none
            return page
        }
        var range = AudienceReader.Range(
            shard: Shard(query.hub), scope: Scope(platform: number, query.kind), expression: query.expression,
            now: query.now, limit: rowLimit)
        range.after = query.kind == .native && !query.namesRegistrations ? endOfChannel(query.after) : query.after
        switch query.kind {
        case .native where query.namesRegistrations: range.after = .none
        case .native: range.throughChannel = query.throughChannel.rawValue
        case .template: range.throughRegistration = query.throughRegistration
        }
        while true {
            let rows = try await self.rows(range)
            guard rows.snapshot != nil else { return AudiencePage() }
            let draft = PageDraft(rows, query, isCut: rows.count >= range.limit)
            // The rows do not suffice for a page: one channel has more registrations than were read, or many channels
            // have several registrations.
            if draft.needsMore, range.limit < Self.mostRows {
                range.limit = min(range.limit * 4, Self.mostRows)
                continue
            }
            return try await finish(draft, rows, range)
        }
    }

    private static let mostRows = 1_000_000

    /// The number of registrations to read for a page. It is higher than the page's limit, because some devices have
    /// several registrations. For a sample it is higher still, because only some devices are in the sample.
    private var rowLimit: Int {
        if query.namesRegistrations { return Int(Int32.max) }
        let room = query.limit + query.limit / 8 + 16
        return query.sample == nil ? room : min(max(room, 20_000), AudienceSample.scanLimit)
    }

    private func endOfChannel(_ member: AudienceMember) -> AudienceMember {
        AudienceMember(channel: member.channel, registration: member.channel == .none ? 0 : .max)
    }

    private func rows(_ range: AudienceReader.Range) async throws(StorageError) -> MemberRows {
        let reader = AudienceReader(storage: storage)
        guard let members = query.among else { return try await reader.rows(range) }
        guard query.kind == .native, !query.namesRegistrations else {
            return try await reader.rows(range, among: Set(members))
        }
        return try await reader.rows(range, amongChannels: members.map(\.channel.rawValue))
    }

    private func finish(
        _ draft: PageDraft, _ rows: MemberRows, _ range: AudienceReader.Range
    ) async throws(StorageError) -> AudiencePage {
        let variants = try await variants(draft, rows, range)
        var ids: Set<Int64> = []
        for index in draft.chosen {
            if query.kind == .template { ids.insert(rows.template(index)) }
            if query.kind == .template || query.variants?.readsVariables ?? false { ids.insert(rows.variables(index)) }
        }
        let contents = try await storage.contents(ids.subtracting([0]), in: range.shard)
        return try draft.page(rows, query, variants, contents)
    }

    /// Returns the language of each channel of the chosen members, as an index of the message's languages; nil if the
    /// message has one language, or if the query asks for no languages.
    private func variants(
        _ draft: PageDraft, _ rows: MemberRows, _ range: AudienceReader.Range
    ) async throws(StorageError) -> [Int64: Int]? {
        guard let languages = query.variants?.languages, languages.count > 1 else { return nil }
        return try await LanguageReader(storage: storage, shard: range.shard, scope: range.scope).languages(
            of: draft.chosen.map { rows.member($0).channel.rawValue }, languages)
    }
}

/// The members of a page, chosen from the registrations that were read.
struct PageDraft {
    /// The index in `MemberRows` of each member of the page, in the order of the members.
    private(set) var chosen: [Int] = []
    /// For each member, the number of further registrations of the member's channel that match the query. A page has
    /// one member for each channel, so these registrations are skipped.
    private(set) var skipped: [Int] = []
    private(set) var isLast = true
    private(set) var stoppedAt: AudienceMember?
    /// True if more registrations must be read before the page can be made.
    private(set) var needsMore = false

    /// - Parameter isCut: True if there may be more rows than were read.
    init(_ rows: MemberRows, _ query: AudienceQuery, isCut: Bool) {
        let isByChannel = query.kind == .native && !query.namesRegistrations
        var last: ChannelID?
        var isMeant = false
        var index = 0
        while index < rows.count {
            let member = rows.member(index)
            if isByChannel, member.channel == last {
                if isMeant { skipped[skipped.count - 1] += 1 }
                index += 1
                continue
            }
            if chosen.count >= query.limit, !query.namesRegistrations {
                isLast = false
                break
            }
            last = member.channel
            isMeant = query.sample?.contains(isByChannel ? member.channel.rawValue : member.registration) ?? true
            if query.sample != nil { stoppedAt = isByChannel ? AudienceMember(channel: member.channel) : member }
            if isMeant {
                chosen.append(index)
                skipped.append(0)
            }
            index += 1
        }
        guard isCut, isLast else { return }
        // The registrations that were read end before the audience ends, and perhaps in the middle of a channel.
        isLast = false
        if isByChannel {
            guard let last, rows.member(0).channel != last else {
                needsMore = true
                return
            }
            if isMeant {
                chosen.removeLast()
                skipped.removeLast()
            }
            if query.sample != nil { stoppedAt = before(last, rows) }
        }
        if query.sample == nil { needsMore = chosen.count < query.limit }
    }

    private func before(_ channel: ChannelID, _ rows: MemberRows) -> AudienceMember? {
        var index = rows.count - 1
        while index >= 0, rows.member(index).channel == channel { index -= 1 }
        return index < 0 ? nil : AudienceMember(channel: rows.member(index).channel)
    }

    /// Makes the page. The page ends early if its size in bytes reaches the limit of the query.
    func page(
        _ rows: MemberRows, _ query: AudienceQuery, _ languages: [Int64: Int]?, _ contents: [Int64: [UInt8]]
    ) throws(StorageError) -> AudiencePage {
        var page = AudiencePage()
        page.snapshot = rows.snapshot ?? .none
        page.isLast = isLast
        page.stoppedAt = stoppedAt
        var digits: [UInt8] = []
        for (place, index) in chosen.enumerated() {
            if !query.namesRegistrations, page.isFull(for: query) {
                page.isLast = false
                if query.sample != nil { page.stoppedAt = page.members.last }
                break
            }
            var member = rows.member(index)
            if query.kind == .native, !query.namesRegistrations { member.registration = 0 }
            rows.withHandle(index, &digits) { page.append(member, handle: $0) }
            page.skipped += skipped[place]
            if query.kind == .template {
                let id = TemplateBinding.ID(template: rows.template(index), variables: rows.variables(index))
                try page.setRendering(id) { () throws(StorageError) in
                    try ContentCoding.template(try Self.content(id.template, contents))
                } variables: { () throws(StorageError) in
                    try ContentCoding.variables(try Self.content(id.variables, contents))
                }
            }
            if let variants = query.variants {
                let variables = variants.readsVariables ? rows.variables(index) : 0
                let id = MessageVariant.ID(
                    language: languages?[rows.member(index).channel.rawValue] ?? 0, variables: variables)
                try page.setVariant(id) { () throws(StorageError) in
                    try ContentCoding.variables(try Self.content(variables, contents))
                }
            }
        }
        return page
    }

    private static func content(_ id: Int64, _ contents: [Int64: [UInt8]]) throws(StorageError) -> [UInt8] {
        guard let bytes = contents[id] else { throw ContentCoding.unreadable }
        return bytes
    }
}

/// Finds the language in which each device gets a message, by the tags of the device.
struct LanguageReader {
    let storage: PostgresStorage
    let shard: Shard
    /// The scope of the native registrations of the platform.
    let scope: Scope

    /// Returns the languages of channels, as indices of the message's languages. A channel without a tag that leads to
    /// one of these languages is left out. If several tags of a device lead to a language, the first of these tags in
    /// alphabetical order decides.
    func languages(of channels: [Int64], _ languages: MessageLanguages) async throws(StorageError) -> [Int64: Int] {
        guard !channels.isEmpty else { return [:] }
        let tags = try await storage.readPage(
            Batch(TagStatements.languages) {
                $0.add(shard.number)
                $0.add(scope.number)
                $0.add(MessageLanguages.tagPrefix)
            })[0]
        var places: [Int64: (place: Int, language: Int)] = [:]
        for index in 0..<tags.count {
            guard let language = languages.index(ofTag: tags[index].text(1)) else { continue }
            places[tags[index].integer(0)] = (index, language)
        }
        guard !places.isEmpty else { return [:] }
        let rows = try await storage.readPage(
            Batch(TagStatements.speakers) {
                $0.add(shard.number)
                $0.add(scope.number)
                $0.add(channels)
                $0.add(Array(places.keys))
            })[0]
        var found: [Int64: (place: Int, language: Int)] = [:]
        for index in 0..<rows.count {
            guard let own = places[rows[index].integer(1)] else { continue }
            let channel = rows[index].integer(0)
            if own.place < found[channel]?.place ?? .max { found[channel] = own }
        }
        return found.mapValues(\.language)
    }
}
