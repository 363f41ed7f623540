import MartletCore
import MartletModel

/// Answers audience queries on one connection.
struct AudienceReader {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func page(_ query: AudienceQuery) throws(StorageError) -> AudiencePage {
        var statements = BorrowedStatements(connection)
        defer { statements.giveBack() }
        let expired = ExpiredCursor(try statements.take(ExpiredCursor.sql), now: query.now)
        let scope = TagScope(hub: query.hub, platform: query.platform, kind: query.kind)
        let found = try statements.cursor(for: AudiencePlan(query.expression), in: scope)
        let audience = DifferenceCursor(among(query).map { IntersectionCursor($0, found) } ?? found, without: expired)
        let handles = HandleCursor(try statements.take(HandleCursor.sql))
        let variants = try query.variants.map { variants throws(StorageError) in
            try VariantCursor(variants, in: scope, isForFew: query.limit <= VariantCursor.few, &statements)
        }
        var page: AudiencePage
        switch query.kind {
        case .native where query.namesRegistrations: page = try named(of: audience, handles, variants)
        case .native: page = try channels(of: audience, handles, variants, query)
        case .template:
            let renderings = RenderingCursor(try statements.take(RenderingCursor.sql))
            page = try registrations(of: audience, handles, renderings, query)
        }
        page.snapshot = try HistoryTable(connection).snapshot()
        return page
    }

    private func among(_ query: AudienceQuery) -> AudienceCursor? {
        guard let members = query.among else { return nil }
        return switch query.kind {
        case .native where !query.namesRegistrations: ChannelCursor(members.map(\.channel))
        case .native: ListedCursor(members)
        case .template: ListedCursor(members)
        }
    }

    /// Returns a page with one member for each channel. The member stands for the first registration of the channel;
    /// the other registrations of the channel are counted as skipped.
    private func channels(
        of audience: AudienceCursor, _ handles: HandleCursor, _ variants: VariantCursor?, _ query: AudienceQuery
    ) throws(StorageError) -> AudiencePage {
        if let sample = query.sample { return try channels(of: audience, handles, variants, query, in: sample) }
        var page = AudiencePage()
        var last = query.after.channel.rawValue
        var index = AudiencePosition(channel: last, registration: .max)
        while true {
            index = try audience.seek(index)
            if index == .end || index.channel > query.throughChannel.rawValue { return page }
            if index.channel == last {
                page.skipped += 1
            } else if page.isFull(for: query) {
                page.isLast = false
                return page
            } else {
                last = index.channel
                try handles.append(AudienceMember(channel: ChannelID(rawValue: last)), to: &page)
                if let variants { try variants.append(index, to: &page) }
            }
            index = index.next
        }
    }

    /// Returns a page with one member for each channel of the sample, or of the rest if the query asks for the rest.
    /// All other channels are passed over before their handles are read. The page ends early after
    /// `AudienceSample.scanLimit` channels, so that a page with few matches does not read the whole audience.
    private func channels(
        of audience: AudienceCursor, _ handles: HandleCursor, _ variants: VariantCursor?, _ query: AudienceQuery,
        in sample: AudienceSample
    ) throws(StorageError) -> AudiencePage {
        var page = AudiencePage()
        var last = query.after.channel.rawValue
        var index = AudiencePosition(channel: last, registration: .max)
        var (isMeant, looks) = (false, 0)
        while true {
            index = try audience.seek(index)
            if index == .end || index.channel > query.throughChannel.rawValue { return page }
            if index.channel == last {
                if isMeant { page.skipped += 1 }
            } else if page.isFull(for: query) || looks == AudienceSample.scanLimit {
                page.isLast = false
                page.stoppedAt = AudienceMember(channel: ChannelID(rawValue: last))
                return page
            } else {
                last = index.channel
                looks += 1
                isMeant = sample.contains(last)
                if isMeant {
                    try handles.append(AudienceMember(channel: ChannelID(rawValue: last)), to: &page)
                    if let variants { try variants.append(index, to: &page) }
                }
            }
            // If the query does not ask for this channel, the search continues with the next channel, not with the next
            // registration.
            index = isMeant ? index.next : AudiencePosition(channel: last, registration: .max)
        }
    }

    /// Returns a page of the native registrations that a query lists by their sequence numbers (`AudienceQuery.among`).
    private func named(
        of audience: AudienceCursor, _ handles: HandleCursor, _ variants: VariantCursor?
    ) throws(StorageError) -> AudiencePage {
        var page = AudiencePage()
        var index = try audience.seek(AudiencePosition(.none).next)
        while index != .end {
            try handles.append(
                AudienceMember(channel: ChannelID(rawValue: index.channel), registration: index.registration), to: &page
            )
            if let variants { try variants.append(index, to: &page) }
            index = try audience.seek(index.next)
        }
        return page
    }

    /// Returns a page of registrations with templates. Registrations that were made after the send began are left out.
    private func registrations(
        of audience: AudienceCursor, _ handles: HandleCursor, _ renderings: RenderingCursor, _ query: AudienceQuery
    ) throws(StorageError) -> AudiencePage {
        let contents = ContentTable(connection)
        var page = AudiencePage()
        var index = AudiencePosition(query.after).next
        let sample = query.sample
        var (last, looks) = (query.after, 0)
        while true {
            index = try audience.seek(index)
            if index == .end { return page }
            if index.registration <= query.throughRegistration {
                guard !page.isFull(for: query), looks < AudienceSample.scanLimit else {
                    page.isLast = false
                    if sample != nil { page.stoppedAt = last }
                    return page
                }
                if let sample {
                    last = AudienceMember(
                        channel: ChannelID(rawValue: index.channel), registration: index.registration)
                    looks += 1
                    guard sample.contains(last.number) else {
                        index = index.next
                        continue
                    }
                }
                let rendering = try renderings.rendering(of: index.registration)
                try handles.append(
                    AudienceMember(channel: ChannelID(rawValue: index.channel), registration: index.registration),
                    to: &page)
                try page.setRendering(rendering) { () throws(StorageError) in
                    try contents.template(rendering.template)
                } variables: { () throws(StorageError) in
                    try contents.variables(rendering.variables)
                }
            }
            index = index.next
        }
    }
}
