public import MartletModel

/// The size of the audience that a send would have now.
public struct AudienceCount: Hashable, Sendable {
    /// The counts of one platform.
    public struct PlatformCounts: Hashable, Sendable {
        /// The number of pushes of a native send. Each channel is counted once.
        public var native = 0
        /// The number of registrations that match a native send in addition to the first registration of their channel.
        public var skipped = 0
        /// The number of pushes of a template send. Each registration with a template is counted.
        public var templates = 0
        /// The number of channels that a native or a template send reaches, each counted once.
        public var devices = 0
        /// The number of pushes of a template send for each template binding. Contains at most as many bindings as the
        /// query's `renderingLimit`.
        public var renderings: [TemplateBinding.ID: Int] = [:]
        /// The number of pushes of a composed message, keyed by the index of the message's language; empty if the
        /// message has one language.
        public var languages: [Int: Int] = [:]

        public init(
            native: Int = 0, skipped: Int = 0, templates: Int = 0, devices: Int = 0,
            renderings: [TemplateBinding.ID: Int] = [:]
        ) {
            self.native = native
            self.skipped = skipped
            self.templates = templates
            self.devices = devices
            self.renderings = renderings
        }

        public var registrations: Int { native + skipped + templates }

        public static func += (left: inout PlatformCounts, right: PlatformCounts) {
            left.native += right.native
            left.skipped += right.skipped
            left.templates += right.templates
            left.devices += right.devices
            left.renderings.merge(right.renderings, uniquingKeysWith: +)
            left.languages.merge(right.languages, uniquingKeysWith: +)
        }
    }

    /// The counts of the platforms that have matching registrations.
    public var platforms: [PlatformID: PlatformCounts]
    /// Whether all numbers describe one point in time. True if no registration of the server was changed or added
    /// during the count. If false, each member was counted with the state that it had when its page was read, as in a
    /// send.
    public var isConsistent: Bool
    /// The lowest hashes of the counted members, if the query asked for them.
    public var lowestHashes: LowestHashes?

    public init(platforms: [PlatformID: PlatformCounts] = [:], isConsistent: Bool = true) {
        self.platforms = platforms
        self.isConsistent = isConsistent
    }

    public var registrations: Int { platforms.values.reduce(0) { $0 + $1.registrations } }
    public var devices: Int { platforms.values.reduce(0) { $0 + $1.devices } }
}

/// Selects the registrations that are counted.
public struct AudienceCountQuery: Sendable {
    public var hub: Hub.ID
    /// The tag expression; nil for every registration.
    public var expression: TagExpression?
    /// The platform; nil for every platform that has registrations.
    public var platform: PlatformID?
    /// The kind of registration; nil for both kinds.
    public var kind: AudienceQuery.Kind?
    /// The bounds of the count, as in a send: later registrations are not counted. With nil, the bounds are taken when
    /// counting begins.
    public var bounds: AudienceBounds?
    /// The maximum number of template bindings of a platform that are counted separately. The pushes of all further
    /// bindings are counted only in `templates`.
    public var renderingLimit: Int
    /// The languages of a composed message whose pushes are counted by language; nil for any other send.
    public var languages: MessageLanguages?
    /// The search for the lowest hashes of the members. It may continue the search of an earlier count. nil to count
    /// without a search.
    public var sampling: Sampling?
    public var now: Timestamp

    /// A search for the threshold of a sample: the highest hash that a member of the sample can have.
    public struct Sampling: Sendable {
        public var hash: SampleHash
        public var lowest: LowestHashes

        public init(hash: SampleHash, lowest: LowestHashes) {
            self.hash = hash
            self.lowest = lowest
        }
    }

    public init(
        hub: Hub.ID, expression: TagExpression?, platform: PlatformID? = nil, kind: AudienceQuery.Kind? = nil,
        bounds: AudienceBounds? = nil, renderingLimit: Int = 0, now: Timestamp
    ) {
        self.hub = hub
        self.expression = expression
        self.platform = platform
        self.kind = kind
        self.bounds = bounds
        self.renderingLimit = renderingLimit
        self.now = now
    }
}
