import MartletCore
import MartletModel

/// Counts the registrations of an audience on one connection. Each call of `advance` does a limited amount of work.
struct AudienceCounter {
    /// The state of a count between two calls of `advance`: the counts so far, and the platforms that are not counted
    /// completely.
    struct Progress: Sendable {
        let query: AudienceCountQuery
        fileprivate(set) var count = AudienceCount()
        /// The snapshot and the bounds with which the count began; nil until the first call of `advance` reads them.
        fileprivate var start: Start?
        /// The platforms that are not counted completely, the current one first.
        fileprivate var platforms: [PlatformID] = []
        /// The channel up to which the current platform has been counted.
        fileprivate var after: Int64 = ChannelID.none.rawValue

        init(_ query: AudienceCountQuery) {
            self.query = query
        }

        var isDone: Bool { start != nil && platforms.isEmpty }
    }

    fileprivate struct Start {
        let snapshot: AudienceSnapshot
        let bounds: AudienceBounds
        /// The highest channel of all hubs when counting began. Channels that were added later have higher ids, so a
        /// platform is counted completely once its count has passed this channel.
        let lastChannel: Int64
    }

    private let connection: Connection
    private let seeks: Int

    /// Creates a counter.
    /// - Parameter seeks: The number of searches for members after which a call of `advance` ends. With the default, a
    ///   call takes some milliseconds.
    init(_ connection: Connection, seeks: Int = 32_768) {
        self.connection = connection
        self.seeks = seeks
    }

    /// Continues the count until it is done, or until this call has made `seeks` searches for members.
    func advance(_ progress: inout Progress) throws(StorageError) {
        let start = try started(&progress)
        let horizon = ReadingHorizon(seeks: seeks)
        while let platform = progress.platforms.first {
            let counts = try counts(on: platform, &progress, within: start.bounds, horizon)
            if counts.registrations > 0 {
                progress.count.platforms[platform, default: AudienceCount.PlatformCounts()] += counts
            }
            progress.after = horizon.channel
            if horizon.channel >= start.lastChannel {
                progress.after = ChannelID.none.rawValue
                progress.platforms.removeFirst()
            }
            if horizon.isReached { break }
        }
        if try HistoryTable(connection).snapshot() != start.snapshot { progress.count.isConsistent = false }
    }

    private func started(_ progress: inout Progress) throws(StorageError) -> Start {
        if let start = progress.start { return start }
        let query = progress.query
        let last = try ChannelTable(connection).last()
        let everybody = AudienceBounds(
            channel: last, registration: try TagTable(connection).lastRegistration(hub: query.hub))
        let start = Start(
            snapshot: try HistoryTable(connection).snapshot(), bounds: query.bounds ?? everybody,
            lastChannel: last.rawValue)
        progress.start = start
        progress.platforms =
            if let platform = query.platform { [platform] } else {
                try TagTable(connection).platforms(hub: query.hub)
            }
        return start
    }

    private func counts(
        on platform: PlatformID, _ progress: inout Progress, within bounds: AudienceBounds, _ horizon: ReadingHorizon
    ) throws(StorageError) -> AudienceCount.PlatformCounts {
        var statements = BorrowedStatements(connection)
        defer { statements.giveBack() }
        let plan = AudiencePlan(progress.query.expression)
        func members(_ kind: AudienceQuery.Kind) throws(StorageError) -> AudienceCursor {
            guard progress.query.kind ?? kind == kind else { return AudienceCursor() }
            let scope = TagScope(hub: progress.query.hub, platform: platform, kind: kind)
            let expired = ExpiredCursor(try statements.take(ExpiredCursor.sql), now: progress.query.now)
            let found = try statements.cursor(for: plan, in: scope, horizon: horizon)
            return DifferenceCursor(found, without: expired)
        }
        var tally = Tally(bounds, after: progress.after, hash: progress.query.sampling?.hash)
        if progress.query.renderingLimit > 0 {
            let known = progress.count.platforms[platform]?.renderings ?? [:]
            tally.countRenderings(
                RenderingCursor(try statements.take(RenderingCursor.sql)), known: known,
                limit: progress.query.renderingLimit)
        }
        if let languages = progress.query.languages {
            let scope = TagScope(hub: progress.query.hub, platform: platform, kind: .native)
            tally.tellLanguagesApart(try LanguageCursor(languages, in: scope, isForFew: false, &statements))
        }
        tally.lowest = progress.count.lowestHashes ?? progress.query.sampling?.lowest
        progress.count.lowestHashes = nil
        try tally.count(natives: try members(.native), templates: try members(.template), horizon)
        progress.count.lowestHashes = tally.lowest
        return tally.counts
    }
}

/// Counts one platform's registrations in the order of their channels.
private struct Tally {
    private(set) var counts = AudienceCount.PlatformCounts()
    private let bounds: AudienceBounds
    private let start: AudiencePosition
    private var lastNative: Int64
    private var lastDevice: Int64
    private var renderings: RenderingCursor?
    private var known: [TemplateBinding.ID: Int] = [:]
    private var renderingsLeft = 0
    private var languages: LanguageCursor?
    /// The keyed hash that decides which devices are in a sample; nil if the count is not for a sample.
    private let hash: SampleHash?
    var lowest: LowestHashes?

    init(_ bounds: AudienceBounds, after channel: Int64, hash: SampleHash?) {
        self.bounds = bounds
        self.hash = hash
        start = AudiencePosition(channel: channel + 1, registration: .min)
        lastNative = channel
        lastDevice = channel
    }

    /// Lets `count` also count the registrations of each template binding: of all bindings in `known`, and of further
    /// bindings until there are `limit` bindings in total.
    mutating func countRenderings(_ cursor: RenderingCursor, known: [TemplateBinding.ID: Int], limit: Int) {
        renderings = cursor
        self.known = known
        renderingsLeft = limit - known.count
    }

    mutating func tellLanguagesApart(_ cursor: LanguageCursor) {
        languages = cursor
    }

    mutating func count(
        natives: AudienceCursor, templates: AudienceCursor, _ horizon: ReadingHorizon
    ) throws(StorageError) {
        var native = try natives.seek(start)
        var template = try templates.seek(start)
        while true {
            let index = min(native, template)
            if index == .end || index.channel > horizon.channel { return }
            if index == native {
                try addNative(index)
                native = try natives.seek(index.next)
            } else {
                try addTemplate(index)
                template = try templates.seek(index.next)
            }
        }
    }

    private mutating func addNative(_ index: AudiencePosition) throws(StorageError) {
        guard index.channel <= bounds.channel.rawValue else { return }
        if index.channel == lastNative {
            counts.skipped += 1
        } else {
            counts.native += 1
            if let hash { lowest?.insert(hash(index.channel)) }
            if let languages { counts.languages[try languages.language(of: index.channel), default: 0] += 1 }
        }
        lastNative = index.channel
        addDevice(index)
    }

    private mutating func addTemplate(_ index: AudiencePosition) throws(StorageError) {
        guard index.registration <= bounds.registration else { return }
        counts.templates += 1
        if let hash { lowest?.insert(hash(index.registration)) }
        if let rendering = try renderings?.rendering(of: index.registration) { add(rendering) }
        addDevice(index)
    }

    private mutating func add(_ rendering: TemplateBinding.ID) {
        if let count = counts.renderings[rendering] {
            counts.renderings[rendering] = count + 1
        } else if known[rendering] != nil {
            counts.renderings[rendering] = 1
        } else if renderingsLeft > 0 {
            renderingsLeft -= 1
            counts.renderings[rendering] = 1
        }
    }

    private mutating func addDevice(_ index: AudiencePosition) {
        if index.channel != lastDevice { counts.devices += 1 }
        lastDevice = index.channel
    }
}
