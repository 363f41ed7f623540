public import MartletModel

/// Whom a send reaches that reads its pages now, in numbers.
public struct AudienceCount: Hashable, Sendable {
    /// Those of one platform.
    public struct Part: Hashable, Sendable {
        /// Pushes of a native send: each channel once.
        public var native = 0
        /// Registrations that match a native send besides the first of their channel.
        public var skipped = 0
        /// Pushes of a template send: each registration with a template.
        public var templates = 0
        /// Channels of either kind, each once.
        public var devices = 0
        /// How many pushes of a template send have which rendering, as far as they were asked for.
        public var renderings: [TemplateBinding.ID: Int] = [:]

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
        }
    }

    /// Without those on which nobody matches.
    public var platforms: [PlatformID: Part]
    /// Whether all of it is of one point in time: no registration of the server was changed or added while it was counted.
    /// Otherwise each member was counted, as it is sent to, by what it was when its page was read.
    public var isOfOneTimestamp: Bool

    public init(platforms: [PlatformID: Part] = [:], isOfOneTimestamp: Bool = true) {
        self.platforms = platforms
        self.isOfOneTimestamp = isOfOneTimestamp
    }

    public var registrations: Int { platforms.values.reduce(0) { $0 + $1.registrations } }
    public var devices: Int { platforms.values.reduce(0) { $0 + $1.devices } }
}

/// Whose registrations are to be counted.
public struct AudienceCountQuery: Sendable {
    public var hub: Hub.ID
    /// nil: every registration.
    public var expression: TagExpression?
    /// nil: each that has registrations.
    public var platform: PlatformID?
    /// nil: both.
    public var kind: AudienceQuery.Kind?
    /// What is registered later is not counted, by the rules of a send; nil: what is registered after the counting began.
    public var bounds: AudienceBounds?
    /// How many distinct renderings of a platform are told apart; the pushes of more are in `templates` alone.
    public var renderingLimit: Int
    public var now: Timestamp

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
