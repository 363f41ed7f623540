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
            // One channel has more registrations than were read, or too many channels have several.
            if draft.needsMore, range.limit < Self.mostRows {
                range.limit = min(range.limit * 4, Self.mostRows)
                continue
            }
            return try await finish(draft, rows, range)
        }
    }

    private static let mostRows = 1_000_000

    /// How many registrations are read for a page: some more than it holds, because some devices have several. A sample
    /// is looked for among more.
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

    /// The language of each chosen member; nil if the message has one language or the page no variants.
    private func variants(
        _ draft: PageDraft, _ rows: MemberRows, _ range: AudienceReader.Range
    ) async throws(StorageError) -> [Int64: Int]? {
        guard let languages = query.variants?.languages, languages.count > 1 else { return nil }
        return try await LanguageReader(storage: storage, shard: range.shard, scope: range.scope).languages(
            of: draft.chosen.map { rows.member($0).channel.rawValue }, languages)
    }
}

/// Which of the rows that were read are members of a page.
struct PageDraft {
    /// The rows of the members, in order.
    private(set) var chosen: [Int] = []
    /// How many registrations matched beside the first of their channel, before each member but the first, and after
    /// the last.
    private(set) var skipped: [Int] = []
    private(set) var isLast = true
    private(set) var stoppedAt: AudienceMember?
    /// True if more rows have to be read to know the page.
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
        // The rows end in the middle of the audience, and perhaps in the middle of a channel.
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

    /// Makes the page. It may end sooner, by its bytes.
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

/// Finds the languages of devices by their tags.
struct LanguageReader {
    let storage: PostgresStorage
    let shard: Shard
    /// The native registrations of the platform.
    let scope: Scope

    /// The language of each channel that has one of the message's, as an index of the message's languages. Of several
    /// tags of a device, the first in alphabetical order that leads to a language decides.
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
