public import MartletModel

/// One push of a fan-out: to a channel, and where templates are filled in, for which of its registrations. Fan-out goes
/// through an audience in this order.
public struct AudienceMember: Hashable, Comparable, Sendable {
    public var channel: ChannelID
    /// The sequence number of the registration in a template send; 0 in a native send, which reaches a channel once
    /// however many of its registrations match; in a direct send, whose members have no channel, the index in its list
    /// of handles, from 1.
    public var registration: Int64

    public init(channel: ChannelID, registration: Int64 = 0) {
        self.channel = channel
        self.registration = registration
    }

    /// Before every member.
    public static let none = AudienceMember(channel: .none)
    /// Behind every member.
    public static let end = AudienceMember(channel: ChannelID(rawValue: .max), registration: .max)

    /// What the member is called in one notification, by progress maps and message ids.
    public var number: Int64 { registration == 0 ? channel.rawValue : registration }

    public static func < (left: AudienceMember, right: AudienceMember) -> Bool {
        (left.channel, left.registration) < (right.channel, right.registration)
    }
}

/// Which members a page of fan-out is to hold.
public struct AudienceQuery: Sendable {
    /// Which registrations a send is for.
    public enum Kind: Hashable, Sendable {
        /// Those without a template: each channel once.
        case native
        /// Those with one: each registration.
        case template
    }

    public var hub: Hub.ID
    public var platform: PlatformID
    public var kind: Kind
    /// nil: every registration of the platform and kind.
    public var expression: TagExpression?
    /// The page begins after this member.
    public var after: AudienceMember
    /// What is registered after a send was accepted is not in its audience: of a native send, channels after this one;
    public var throughChannel: ChannelID
    /// of a template send, registrations after this one.
    public var throughRegistration: Int64
    /// Only these members, in order; nil: all. A native send may name registrations instead of channels, by their sequence
    /// numbers: then the members of the page have these too, and each is one of its own.
    public var among: [AudienceMember]?
    public var limit: Int
    /// The page ends with the member by which it takes so much memory (`AudiencePage.bytes`).
    public var byteLimit: Int
    public var now: Timestamp

    /// Whether `among` names registrations of a native send.
    public var namesRegistrations: Bool { kind == .native && among?.first.map { $0.registration != 0 } ?? false }

    public init(
        hub: Hub.ID, platform: PlatformID, kind: Kind = .native, expression: TagExpression?,
        after: AudienceMember = .none, throughChannel: ChannelID, throughRegistration: Int64 = .max,
        among: [AudienceMember]? = nil, limit: Int, byteLimit: Int = AudiencePage.byteLimit, now: Timestamp
    ) {
        self.hub = hub
        self.platform = platform
        self.kind = kind
        self.expression = expression
        self.after = after
        self.throughChannel = throughChannel
        self.throughRegistration = throughRegistration
        self.among = among
        self.limit = limit
        self.byteLimit = byteLimit
        self.now = now
    }
}

/// A template with the push variables of a registration: what a template notification is rendered for, once for all
/// members of a send that share it.
public struct TemplateBinding: Sendable {
    /// Names the pair for good: what is stored under an id never changes.
    public struct ID: Hashable, Sendable {
        public var template: Int64
        /// 0: no variables.
        public var variables: Int64

        public init(template: Int64, variables: Int64 = 0) {
            self.template = template
            self.variables = variables
        }
    }

    public let id: ID
    public let template: Template
    public let variables: [String: String]

    public init(id: ID, template: Template, variables: [String: String]) {
        self.id = id
        self.template = template
        self.variables = variables
    }
}

/// Members of an audience with their handles, in one buffer: a page of thousands costs a handful of allocations.
public struct AudiencePage: Sendable {
    public private(set) var members: [AudienceMember] = []
    /// The renderings that the members of a template send need, each once.
    public private(set) var renderings: [TemplateBinding] = []
    /// For each member the index of its rendering; empty in a native send.
    public private(set) var bindingIndices: [UInt32] = []
    /// For each member of a page of retries its registration with the channel that it has now; empty where that is the
    /// channel of the member.
    public private(set) var followed: [AudienceMember] = []
    /// Registrations that matched a native send besides the first of their channel: `Skipped` in telemetry.
    public var skipped = 0
    /// Whether no member of the audience comes after this page.
    public var isLast = true
    /// As of when the page is; of a direct send, whose audience nobody changes, the beginning.
    public var snapshot = AudienceSnapshot.none
    private var bindingIndexOfID: [TemplateBinding.ID: UInt32] = [:]
    private var templateOfID: [Int64: Template] = [:]
    private var variablesOfID: [Int64: [String: String]] = [:]
    /// About how much memory the page takes.
    public private(set) var bytes = 0
    private var handleBytes: [UInt8] = []
    private var handleEnds: [UInt32] = []

    public init() {}

    public var count: Int { members.count }

    /// How much memory a page takes, at most, but for its last member: many times what thousands of devices with a few
    /// templates need.
    public static let byteLimit = 4 << 20

    /// Of a member with its handle, what is not the handle.
    private static let memberBytes = 64
    /// Of a rendering, what is not its template and variables.
    private static let renderingBytes = 160

    /// Whether there is no room for another member.
    public func isFull(for query: AudienceQuery) -> Bool {
        count >= query.limit || bytes >= query.byteLimit && count > 0
    }

    /// - Parameter handle: The UTF-8 text of the handle (`PushHandle.text`).
    public mutating func append(_ member: AudienceMember, handle: UnsafeBufferPointer<UInt8>) {
        members.append(member)
        handleBytes.append(contentsOf: handle)
        handleEnds.append(UInt32(handleBytes.count))
        bytes += handle.count + Self.memberBytes
    }

    /// Says what the member that was appended last is rendered for. Members share the memory of what they have in common.
    /// - Parameters:
    ///   - template: Reads the template; asked once for each.
    ///   - variables: Reads the variables, where there are any; asked once for each.
    public mutating func setRendering<Failure: Error>(
        _ id: TemplateBinding.ID, template: () throws(Failure) -> Template,
        variables: () throws(Failure) -> [String: String]
    ) throws(Failure) {
        if let index = bindingIndexOfID[id] { return bindingIndices.append(index) }
        let index = UInt32(renderings.count)
        let ownTemplate = try sharedTemplate(id.template, template)
        let ownVariables = id.variables == 0 ? [:] : try sharedVariables(id.variables, variables)
        renderings.append(TemplateBinding(id: id, template: ownTemplate, variables: ownVariables))
        bytes += Self.renderingBytes
        bindingIndexOfID[id] = index
        bindingIndices.append(index)
    }

    /// Appends a member with the handle and the rendering that its registration has in another page.
    mutating func append(_ member: AudienceMember, following index: Int, of other: AudiencePage) {
        other.withHandle(index) { append(member, handle: $0) }
        followed.append(other.members[index])
        guard !other.bindingIndices.isEmpty else { return }
        let rendering = other.renderings[Int(other.bindingIndices[index])]
        setRendering(rendering.id, template: { rendering.template }, variables: { rendering.variables })
    }

    /// The channel that is sent to at an index.
    func channel(_ index: Int) -> ChannelID {
        followed.isEmpty ? members[index].channel : followed[index].channel
    }

    private mutating func sharedTemplate<Failure: Error>(
        _ id: Int64, _ read: () throws(Failure) -> Template
    ) throws(Failure) -> Template {
        if let known = templateOfID[id] { return known }
        let template = try read()
        templateOfID[id] = template
        bytes += template.memoryBytes
        return template
    }

    private mutating func sharedVariables<Failure: Error>(
        _ id: Int64, _ read: () throws(Failure) -> [String: String]
    ) throws(Failure) -> [String: String] {
        if let known = variablesOfID[id] { return known }
        let variables = try read()
        variablesOfID[id] = variables
        bytes += variables.memoryBytes
        return variables
    }

    /// The handle at an index.
    public func handle(_ index: Int) -> PushHandle {
        PushHandle(text: withHandle(index) { String(decoding: $0, as: UTF8.self) })
    }

    /// Lends the UTF-8 text of the handle at an index.
    public func withHandle<Result, Failure: Error>(
        _ index: Int, _ read: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let start = index == 0 ? 0 : Int(handleEnds[index - 1])
        let end = Int(handleEnds[index])
        return try handleBytes.withUnsafeBufferPointer { bytes throws(Failure) in
            try read(UnsafeBufferPointer(rebasing: bytes[start..<end]))
        }
    }
}
