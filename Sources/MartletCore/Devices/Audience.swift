public import MartletModel

/// One push of a fan-out: a channel and, in a template send, one registration of that channel. A fan-out reads the
/// members of an audience in ascending order.
public struct AudienceMember: Hashable, Comparable, Sendable {
    public var channel: ChannelID
    /// The registration that the push is for, as a number.
    ///
    /// In a template send, this is the sequence number of the registration. In a native send, it is 0, because the send
    /// reaches a channel once, regardless of how many of its registrations match. A direct send is for a list of
    /// handles, and its members have no channel. In a direct send, this is the position of the handle in the list,
    /// counted from 1.
    public var registration: Int64

    public init(channel: ChannelID, registration: Int64 = 0) {
        self.channel = channel
        self.registration = registration
    }

    /// The position before every member.
    public static let none = AudienceMember(channel: .none)
    /// The position after every member.
    public static let end = AudienceMember(channel: ChannelID(rawValue: .max), registration: .max)

    /// The number that identifies the member within one notification, in progress maps and message ids.
    public var number: Int64 { registration == 0 ? channel.rawValue : registration }

    public static func < (left: AudienceMember, right: AudienceMember) -> Bool {
        (left.channel, left.registration) < (right.channel, right.registration)
    }
}

/// Selects the members of a page of a fan-out.
public struct AudienceQuery: Sendable {
    /// The registrations that a send is for: those without a template, or those with one.
    public enum Kind: Hashable, Sendable {
        /// The registrations without a template. Each channel is a member once.
        case native
        /// The registrations with a template. Each registration is a member once.
        case template
    }

    public var hub: Hub.ID
    public var platform: PlatformID
    public var kind: Kind
    /// The tag expression; nil selects every registration of the platform and kind.
    public var expression: TagExpression?
    /// The member after which the page begins.
    public var after: AudienceMember
    /// The last channel of a native send's audience. Later channels were registered after the send began.
    public var throughChannel: ChannelID
    /// The last registration of a template send's audience. Later registrations were created after the send began.
    public var throughRegistration: Int64
    /// The members to select, in order; nil for all.
    ///
    /// A native send may list registrations by their sequence numbers instead of channels. The members of the page then
    /// have these sequence numbers too, and each registration is a separate member.
    public var among: [AudienceMember]?
    public var limit: Int
    /// The size in bytes (`AudiencePage.bytes`) at which a page ends. The last member of the page may exceed it.
    public var byteLimit: Int
    public var now: Timestamp
    /// How devices differ in the message that they get; nil unless the send has a composed message that differs between
    /// devices.
    public var variants: AudienceVariants?
    /// Selects only the members in the sample, or only those in the rest; nil selects all members. With a selection,
    /// the page may end before it is full (`AudiencePage.stoppedAt`).
    public var sample: AudienceSample?

    /// True if `among` lists registrations of a native send.
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

/// A template with the push variables of a registration. A template notification is rendered once for all members of a
/// send that share the binding.
public struct TemplateBinding: Sendable {
    /// Identifies a template binding permanently. The content that is stored under an id never changes.
    public struct ID: Hashable, Sendable {
        public var template: Int64
        /// The id of the push variables; 0 for none.
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

/// How devices differ in the composed message that they get: by language, and possibly by push variables.
public struct AudienceVariants: Sendable {
    /// The languages of the composed message.
    public var languages: MessageLanguages
    /// Whether the push variables of a registration also decide which message the device gets.
    public var readsVariables: Bool

    public init(languages: MessageLanguages, readsVariables: Bool) {
        self.languages = languages
        self.readsVariables = readsVariables
    }
}

/// The language of a device, with the push variables of its registration. A composed message is rendered once for all
/// members of a send that share the variant.
public struct MessageVariant: Sendable {
    public struct ID: Hashable, Sendable {
        /// The index of the language among the message's languages.
        public var language: Int
        /// The permanent id of the push variables; 0 for none.
        public var variables: Int64

        public init(language: Int, variables: Int64 = 0) {
            self.language = language
            self.variables = variables
        }
    }

    public let id: ID
    public let variables: [String: String]

    public init(id: ID, variables: [String: String] = [:]) {
        self.id = id
        self.variables = variables
    }
}

/// A page of an audience. The handles of all members are in one buffer, so that a page of thousands of members needs
/// few allocations.
public struct AudiencePage: Sendable {
    public private(set) var members: [AudienceMember] = []
    /// The template bindings that the members of a template send use, without duplicates.
    public private(set) var renderings: [TemplateBinding] = []
    /// For each member, the index of its template binding in `renderings`; empty in a native send.
    public private(set) var bindingIndices: [UInt32] = []
    /// The variants of the members in a send of a composed message, without duplicates; empty if all members get the
    /// same message.
    public private(set) var variants: [MessageVariant] = []
    /// For each member, the index of its variant in `variants`; empty if all members get the same message.
    public private(set) var variantIndices: [UInt32] = []
    /// The registrations to which the pushes are sent, in a page of retries to registrations that have moved. There is
    /// one registration for each member, with its current channel. Empty in any other page.
    public private(set) var followed: [AudienceMember] = []
    /// The number of registrations that matched a native send in addition to the first registration of their channel.
    /// In telemetry, this number is called `Skipped`.
    public var skipped = 0
    /// Whether no member of the audience comes after this page.
    public var isLast = true
    /// The last member that was examined, if the page does not contain it; nil if the page ends with the last examined
    /// member.
    public var stoppedAt: AudienceMember?
    /// The snapshot from which the page was read; `none` in a direct send, because its list of handles never changes.
    public var snapshot = AudienceSnapshot.none
    private var variantIndexOfID: [MessageVariant.ID: UInt32] = [:]
    private var bindingIndexOfID: [TemplateBinding.ID: UInt32] = [:]
    private var templateOfID: [Int64: Template] = [:]
    private var variablesOfID: [Int64: [String: String]] = [:]
    /// The approximate memory of the page, in bytes.
    public private(set) var bytes = 0
    private var handleBytes: [UInt8] = []
    private var handleEnds: [UInt32] = []

    public init() {}

    public var count: Int { members.count }

    /// The maximum memory of a page, in bytes. The last member of the page may exceed it. A page of thousands of
    /// devices with a few templates needs far less memory.
    public static let byteLimit = 4 << 20

    /// The memory of a member without the text of its handle, in bytes.
    private static let memberBytes = 64
    /// The memory of a template binding without its template and variables, in bytes.
    private static let renderingBytes = 160

    /// Returns whether the page has as many members or bytes as the query allows.
    public func isFull(for query: AudienceQuery) -> Bool {
        count >= query.limit || bytes >= query.byteLimit && count > 0
    }

    /// Appends a member with its handle.
    /// - Parameter handle: The UTF-8 text of the handle (`PushHandle.text`).
    public mutating func append(_ member: AudienceMember, handle: UnsafeBufferPointer<UInt8>) {
        members.append(member)
        handleBytes.append(contentsOf: handle)
        handleEnds.append(UInt32(handleBytes.count))
        bytes += handle.count + Self.memberBytes
    }

    /// Sets the template binding of the member that was appended last. Members share templates and variables in memory.
    /// - Parameters:
    ///   - template: Reads the template. Called once for each template.
    ///   - variables: Reads the push variables. Called once for each set of push variables; not called if the id has
    ///     none.
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

    /// Sets the variant of the member that was appended last.
    /// - Parameter variables: Reads the push variables. Called once for each set of push variables; not called if the
    ///   id has none.
    public mutating func setVariant<Failure: Error>(
        _ id: MessageVariant.ID, variables: () throws(Failure) -> [String: String]
    ) throws(Failure) {
        if let index = variantIndexOfID[id] { return variantIndices.append(index) }
        let index = UInt32(variants.count)
        let ownVariables = id.variables == 0 ? [:] : try sharedVariables(id.variables, variables)
        variants.append(MessageVariant(id: id, variables: ownVariables))
        bytes += Self.renderingBytes
        variantIndexOfID[id] = index
        variantIndices.append(index)
    }

    /// Appends a member whose push is sent to the current channel of its registration. The member of `other` at `index`
    /// is that registration. Its handle, variant and template binding are used.
    mutating func append(_ member: AudienceMember, following index: Int, of other: AudiencePage) {
        other.withHandle(index) { append(member, handle: $0) }
        followed.append(other.members[index])
        if !other.variantIndices.isEmpty {
            let variant = other.variants[Int(other.variantIndices[index])]
            setVariant(variant.id) { variant.variables }
        }
        guard !other.bindingIndices.isEmpty else { return }
        let rendering = other.renderings[Int(other.bindingIndices[index])]
        setRendering(rendering.id, template: { rendering.template }, variables: { rendering.variables })
    }

    /// Returns the channel to which the push of the member at an index is sent. This is the current channel of the
    /// member's registration if that channel has changed, otherwise the member's own channel.
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

    /// Returns the handle of the member at an index.
    public func handle(_ index: Int) -> PushHandle {
        PushHandle(text: withHandle(index) { String(decoding: $0, as: UTF8.self) })
    }

    /// Calls `read` with the UTF-8 text of the handle of the member at an index.
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
