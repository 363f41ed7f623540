public import MartletModel

/// The size of the audience that a send would have now.
public struct AudienceCount: Hashable, Sendable {
    /// The numbers of one platform.
    public struct Part: Hashable, Sendable {
        /// Pushes of a native send: each channel once.
        public var native = 0
        /// Registrations that match a native send in addition to the first of their channel.
        public var skipped = 0
        /// Pushes of a template send: each registration with a template.
        public var templates = 0
        /// Channels of both kinds, each once.
        public var devices = 0
        /// The number of pushes of each template binding of a template send, as far as requested.
        public var renderings: [TemplateBinding.ID: Int] = [:]
        /// The number of pushes of a composed send by the index of the message's language, if it has several.
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

        public static func += (left: inout Part, right: Part) {
            left.native += right.native
            left.skipped += right.skipped
            left.templates += right.templates
            left.devices += right.devices
            left.renderings.merge(right.renderings, uniquingKeysWith: +)
            left.languages.merge(right.languages, uniquingKeysWith: +)
        }
    }

    /// Without platforms that have no matching registration.
    public var platforms: [PlatformID: Part]
    /// Whether all numbers are of one point in time: no registration of the server was changed or added while they were
    /// counted. Otherwise each member was counted, as in a send, with the state that it had when its page was read.
    public var isOfOneTimestamp: Bool
    /// The lowest hashes of the counted members, if they were asked for.
    public var lowestHashes: LowestHashes?

    public init(platforms: [PlatformID: Part] = [:], isOfOneTimestamp: Bool = true) {
        self.platforms = platforms
        self.isOfOneTimestamp = isOfOneTimestamp
    }

    public var registrations: Int { platforms.values.reduce(0) { $0 + $1.registrations } }
    public var devices: Int { platforms.values.reduce(0) { $0 + $1.devices } }
}

/// Selects the registrations to count.
public struct AudienceCountQuery: Sendable {
    public var hub: Hub.ID
    /// nil for every registration.
    public var expression: TagExpression?
    /// nil for every platform that has registrations.
    public var platform: PlatformID?
    /// nil for both.
    public var kind: AudienceQuery.Kind?
    /// Later registrations are not counted, as in a send; nil for the bounds at the time when counting begins.
    public var bounds: AudienceBounds?
    /// The maximum number of template bindings of a platform that are counted separately; the pushes of further ones
    /// are only in `templates`.
    public var renderingLimit: Int
    /// The languages of a composed message, whose pushes are counted by language; nil for any other send.
    public var languages: MessageLanguages?
    /// Also finds the lowest hashes of the members, and adds them to those of an earlier count; nil for other counts.
    public var sampling: Sampling?
    public var now: Timestamp

    /// The search for the threshold of a sample.
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
