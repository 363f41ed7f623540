public import MartletModel

/// The predicted result of a send. Nothing is sent or stored to predict it.
public struct DryRun: Sendable {
    /// A payload of the send and the number of its pushes. In a template send, one `Payload` stands for all payloads of
    /// a template.
    public struct Payload: Sendable {
        /// The template of the payload; nil in a native send.
        public var template: Template?
        /// The language of the payload of a composed message; nil if the message states none.
        public var language: String?
        /// The number of pushes with this template, or with the native payload.
        public var pushes: Int
        /// The number of template bindings: of the different sets of push variables that are used with the template.
        public var renderings: Int
        /// The largest of the messages that the bindings render to; nil if none can be rendered.
        public var message: Message?
        /// What a device shows for the payload; nil if the payload does not determine it.
        public var appearance: Appearance?

        public init(template: Template? = nil, pushes: Int, renderings: Int = 1, message: Message?) {
            self.template = template
            self.pushes = pushes
            self.renderings = renderings
            self.message = message
        }
    }

    /// How the templates of devices use the properties of a send. Names are in lower case.
    public struct PropertyUse: Sendable {
        /// The names of the properties that the send has.
        public var sent: Set<String>
        /// The names of the properties that at least one template uses.
        public var named: Set<String> = []
        /// The properties that a template uses although they have neither a value nor a default. The key is the name of
        /// the property; the value is the number of pushes in which it is missing.
        public var withoutValue: [String: Int] = [:]

        static func + (one: PropertyUse, other: PropertyUse) -> PropertyUse {
            var sum = one
            sum.sent.formUnion(other.sent)
            sum.named.formUnion(other.named)
            sum.withoutValue.merge(other.withoutValue, uniquingKeysWith: +)
            return sum
        }
    }

    /// The results for one platform.
    public struct PlatformResult: Sendable {
        public var platform: PlatformID
        /// The number of pushes, counted as in a send.
        public var targeted: Int
        public var devices: Int
        public var credential: CredentialCheck
        /// The payloads with the most pushes, at most `payloadLimit`.
        public var payloads: [Payload]
        /// The number of templates whose payloads are not in `payloads`.
        public var furtherTemplates = 0
        /// The number of pushes whose payloads are not in `payloads`.
        public var furtherPushes = 0
        /// The number of pushes whose payload was not rendered, because there are more than `renderingLimit` distinct
        /// payloads, or because a composed message cannot be rendered for the platform.
        public var untriedPushes = 0
        /// How the templates use the properties; nil if the send is not a template send.
        public var use: PropertyUse?
        /// The problems that were found, as sentences; problems of the credential come first.
        public var problems: [String]
    }

    /// The maximum number of payloads that are shown for each platform.
    public static let payloadLimit = 20
    /// The maximum number of distinct payloads that are rendered for each platform.
    public static let renderingLimit = 4096

    /// Why the send would be refused; nil if it would be accepted.
    public var refusal: String?
    /// The payload that is too large, if the send would be refused for it.
    public var excess: PayloadExcess?
    /// The size of the audience; nil for a direct send.
    public var count: AudienceCount?
    /// The results, one for each platform.
    public var platforms: [PlatformResult]
    /// When the send would begin, and when undelivered pushes would be abandoned.
    public var startsAt: Timestamp
    public var expiresAt: Timestamp
    /// The roll-out of the send; nil if it would be sent as fast as possible.
    public var rollout: Rollout?
    /// The languages that devices in the audience use, but in which a composed message has no text; nil if the message
    /// has only one language. Such devices get the text in the message's own language.
    public var missingLanguages: [String]?
    /// The number of matching devices that a composed message does not reach, because they have only registrations with
    /// templates.
    public var templatesOnly: Int?
    /// The requested start time if it is more than a minute in the past; otherwise nil.
    public var missed: Timestamp?

    public init(
        refusal: String? = nil, count: AudienceCount? = nil, platforms: [PlatformResult] = [], startsAt: Timestamp,
        expiresAt: Timestamp, rollout: Rollout? = nil
    ) {
        self.refusal = refusal
        self.count = count
        self.platforms = platforms
        self.startsAt = startsAt
        self.expiresAt = expiresAt
        self.rollout = rollout
    }

    public var targeted: Int { platforms.reduce(0) { $0 + $1.targeted } }

    /// All problems as sentences; empty if none was found.
    public var problems: [String] {
        let emptyAudience = targeted == 0 ? ["The audience is empty: the send would end as NoTargetFound."] : []
        return (refusal.map { [$0] } ?? []) + emptyAudience + times + unreached + platforms.flatMap(\.problems)
    }

    /// The maximum number of properties of each kind that `cautions` names.
    private static let nameLimit = 20

    /// Sentences about things that are allowed but may be mistakes: properties of the send that no template of the
    /// devices uses, and properties that a template uses but that have no value.
    public var cautions: [String] {
        let uses = platforms.filter { $0.targeted > 0 }.compactMap(\.use)
        guard let first = uses.first else { return [] }
        let use = uses.dropFirst().reduce(first, +)
        var cautions = use.withoutValue.sorted { $0.key < $1.key }.prefix(Self.nameLimit).map { name, pushes in
            "There is no value for '\(name)': its place stays empty in \(pushes == 1 ? "1 push" : "\(pushes) pushes")."
        }
        // Properties are reported as unused only if all templates were rendered: a template that was not rendered may
        // name them.
        let unused = use.sent.subtracting(use.named).sorted().prefix(Self.nameLimit).map { "'\($0)'" }
        if !unused.isEmpty, platforms.allSatisfy({ $0.untriedPushes == 0 }) {
            cautions.append(
                "No template of these devices names the \(unused.count == 1 ? "property" : "properties") "
                    + "\(unused.joined(separator: ", ")).")
        }
        return cautions
    }

    private var unreached: [String] {
        guard let count = templatesOnly, count > 0 else { return [] }
        let devices = count == 1 ? "1 device is" : "\(count) devices are"
        return ["\(devices) registered with templates only; a message does not reach them."]
    }

    /// Problems with the times, the rate and the sample of the send.
    private var times: [String] {
        var problems: [String] = []
        if let missed {
            problems.append("The time \(missed.iso8601) is in the past: the send would begin at once.")
        }
        let life = (expiresAt - startsAt) / .seconds(1)
        if refusal == nil, case .rate(let rate) = rollout?.pace, Double(targeted) / Double(rate) > life {
            let left = targeted - Int(life * Double(rate))
            let pushes = targeted == 1 ? "1 push takes" : "\(targeted) pushes take"
            problems.append(
                "At \(rate) a second \(pushes) \(Self.seconds(Double(targeted) / Double(rate))), but it expires after "
                    + "\(Self.seconds(life)): about \(left) would be abandoned.")
        }
        if refusal == nil, case .size(let size) = rollout?.sample, targeted > 0, targeted <= size {
            problems.append(
                "The sample would be the whole audience: \(targeted) of \(targeted) devices. Give first= a smaller "
                    + "number, or send without a canary.")
        }
        return problems
    }

    /// The number of devices in the sample of a canary; nil if the send is no canary. If the sample is a share of the
    /// audience, the number is an estimate.
    public var sampleSize: Int? {
        switch rollout?.sample {
        case nil: nil
        case .size(let size): min(size, targeted)
        case .share(let share): targeted * share / 10_000
        }
    }

    private static func seconds(_ count: Double) -> String {
        count >= 1 ? "\(Int(count.rounded(.up))) s" : "\(Int((count * 1000).rounded(.up))) ms"
    }
}
