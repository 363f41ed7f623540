public import MartletModel

/// What a send would do and come to, found out without a push and without a trace of it.
public struct DryRun: Sendable {
    /// Something that would be sent, once for however many devices.
    public struct Payload: Sendable {
        /// What it is made of; nil in a native send.
        public var template: Template?
        /// Pushes that have it, or another filling of the same template.
        public var pushes: Int
        /// How many fillings of the template there are: one for each set of push variables.
        public var renderings: Int
        /// The largest of them; nil where none can be made.
        public var message: Message?

        public init(template: Template? = nil, pushes: Int, renderings: Int = 1, message: Message?) {
            self.template = template
            self.pushes = pushes
            self.renderings = renderings
            self.message = message
        }
    }

    /// What there is to tell of one platform.
    public struct Part: Sendable {
        public var platform: PlatformID
        /// Pushes that would be made, counted as a send counts them.
        public var targeted: Int
        public var devices: Int
        public var credential: CredentialCheck
        /// Those with the most pushes first, at most `payloadLimit`.
        public var payloads: [Payload]
        /// Distinct templates of which no payload is shown, and their pushes.
        public var furtherTemplates = 0
        public var furtherPushes = 0
        /// Pushes whose payload was not tried, because more than `renderingLimit` are distinct.
        public var untriedPushes = 0
        /// Sentences, the credential's first.
        public var problems: [String]
    }

    /// The most payloads that are shown of a platform.
    public static let payloadLimit = 20
    /// The most distinct payloads that are tried of a platform.
    public static let renderingLimit = 4096

    /// Why such a send is not accepted; nil where it is.
    public var refusal: String?
    /// Whom it is for, in numbers; nil for a direct send.
    public var count: AudienceCount?
    /// By platform.
    public var parts: [Part]
    /// When it would go out, and when undelivered pushes would be given up.
    public var startsAt: Timestamp
    public var expiresAt: Timestamp
    /// How fast it would go out; nil: as fast as it can.
    public var rollout: Rollout?
    /// The time that was asked for, where it was long past.
    public var missed: Timestamp?

    public init(
        refusal: String? = nil, count: AudienceCount? = nil, parts: [Part] = [], startsAt: Timestamp,
        expiresAt: Timestamp, rollout: Rollout? = nil
    ) {
        self.refusal = refusal
        self.count = count
        self.parts = parts
        self.startsAt = startsAt
        self.expiresAt = expiresAt
        self.rollout = rollout
    }

    public var targeted: Int { parts.reduce(0) { $0 + $1.targeted } }

    /// Everything that is wrong, in sentences; empty where nothing is known that would go wrong.
    public var problems: [String] {
        let nobody = targeted == 0 ? ["Nobody is in the audience: the send would end as NoTargetFound."] : []
        return (refusal.map { [$0] } ?? []) + nobody + times + parts.flatMap(\.problems)
    }

    /// What is wrong with when, and how fast, it would go out.
    private var times: [String] {
        var problems: [String] = []
        if let missed {
            problems.append("The time \(missed.iso8601) is past: the send would go out at once.")
        }
        let life = (expiresAt - startsAt) / .seconds(1)
        if refusal == nil, case .rate(let rate) = rollout?.pace, Double(targeted) / Double(rate) > life {
            let left = targeted - Int(life * Double(rate))
            let pushes = targeted == 1 ? "1 push takes" : "\(targeted) pushes take"
            problems.append(
                "At \(rate) a second \(pushes) \(Self.seconds(Double(targeted) / Double(rate))), but it expires after "
                    + "\(Self.seconds(life)): about \(left) would be abandoned.")
        }
        return problems
    }

    private static func seconds(_ count: Double) -> String {
        count >= 1 ? "\(Int(count.rounded(.up))) s" : "\(Int((count * 1000).rounded(.up))) ms"
    }
}
