public import MartletModel

/// Selects sends of a hub, newest first.
public struct SendQuery: Sendable {
    /// The phase of a send, from its schedule to its end.
    public enum Phase: String, CaseIterable, Sendable {
        case scheduled
        case running
        /// The send was paused by a request or halted by its roll-out, or it is a canary that holds.
        case held
        case ended
    }

    /// The authors whose sends are selected.
    public enum Author: Hashable, Sendable {
        /// Sends that this author asked for, including resends.
        case named(SendAuthor)
        /// Resends of dead letters.
        case resends
        /// Resends of the dead letters of one send.
        case resendsOf(NotificationID)
    }

    public var hub: Hub.ID
    /// Selects only sends that are older than the send with this `Notification.sequence`; nil to start with the newest
    /// send.
    public var before: Int64?
    public var phase: Phase?
    /// Selects only native sends to this platform; nil for all sends.
    public var platform: PlatformID?
    /// The author of the selected sends; nil for all authors.
    public var author: Author?
    /// The earliest time at which the selected sends were accepted; nil for any time.
    public var since: Timestamp?
    public var limit: Int

    public init(
        hub: Hub.ID, before: Int64? = nil, phase: Phase? = nil, platform: PlatformID? = nil, author: Author? = nil,
        since: Timestamp? = nil, limit: Int
    ) {
        self.hub = hub
        self.before = before
        self.phase = phase
        self.platform = platform
        self.author = author
        self.since = since
        self.limit = limit
    }

    /// The maximum number of sends, of all hubs, that one query examines.
    public static let scanLimit: Int64 = 20_000
}

/// One page of a hub's sends, newest first.
public struct SendPage: Sendable {
    public var entries: [SendEntry]
    /// The value of `SendQuery.before` for the next page; nil if there are no older sends.
    public var next: Int64?
    /// True if the query stopped before the page was full, because it had examined `SendQuery.scanLimit` sends. A query
    /// for held sends has no such limit.
    public var isPartial: Bool

    public init(entries: [SendEntry], next: Int64?, isPartial: Bool) {
        self.entries = entries
        self.next = next
        self.isPartial = isPartial
    }
}

/// An entry of a list of sends: the report and the control of a send.
public struct SendEntry: Sendable {
    public var report: NotificationReport
    public var control: NotificationControl
    /// True if the send is a canary whose sample was sent and whose rest waits.
    public var isHolding: Bool
    /// When a canary that holds continues by itself; nil if it holds until it is resumed.
    public var goesOnAt: Timestamp?
    public var origin: SendOrigin

    public init(
        report: NotificationReport, control: NotificationControl, isHolding: Bool = false,
        goesOnAt: Timestamp? = nil, origin: SendOrigin = SendOrigin()
    ) {
        self.report = report
        self.control = control
        self.isHolding = isHolding
        self.goesOnAt = goesOnAt
        self.origin = origin
    }
}

/// The target of a send: the time, the platform and the tag expression that determine its devices.
public struct SendTarget: Sendable {
    public var sequence: Int64
    public var id: NotificationID
    /// The time when the audience was determined: when the send was accepted or, if it was scheduled, when it was due.
    public var at: Timestamp
    /// The platform of a native send; nil for all platforms.
    public var platform: PlatformID?
    /// The tag expression; nil for all devices.
    public var expression: String?

    public init(sequence: Int64, id: NotificationID, at: Timestamp, platform: PlatformID?, expression: String?) {
        self.sequence = sequence
        self.id = id
        self.at = at
        self.platform = platform
        self.expression = expression
    }
}

/// The targets of a hub's sends to audiences, newest first.
public struct SendTargets: Sendable {
    public var targets: [SendTarget]
    /// The parameter `before` of `sendTargets` for the next page; nil if there are no older sends. The sends down to
    /// this sequence number were examined, even if they are not in `targets`.
    public var next: Int64?

    public init(targets: [SendTarget], next: Int64?) {
        self.targets = targets
        self.next = next
    }
}

/// Earlier versions of registrations, newest first.
public struct FormerRegistrations: Sendable {
    public var versions: [RegistrationVersion]
    /// The end of the oldest version that was examined; nil if there was none.
    public var lookedBackTo: Timestamp?
    /// The parameter `before` of `formerRegistrations` for the next page; nil if there are no older versions.
    public var next: Int64?

    public init(versions: [RegistrationVersion], lookedBackTo: Timestamp?, next: Int64?) {
        self.versions = versions
        self.lookedBackTo = lookedBackTo
        self.next = next
    }
}

/// Lists a hub's sends and the names of its tags. Each call reads a bounded number of rows.
public protocol SendListStore: Sendable {
    func sends(_ query: SendQuery) async throws(StorageError) -> SendPage

    /// Returns a send; nil if the hub has none with this id.
    func send(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendEntry?

    /// Returns the targets of sends that have begun, newest first. Examines at most `window` sends of all hubs.
    /// - Parameter before: Only sends with a lower sequence number are returned; nil to begin with the newest send.
    func sendTargets(in hub: Hub.ID, before: Int64?, window: Int64) async throws(StorageError) -> SendTargets

    /// Returns earlier versions of registrations that had a tag, newest first. Examines at most `window` versions of
    /// all hubs.
    /// - Parameter before: Only versions whose change has a lower number (`RegistrationVersion.End`) are returned; nil
    ///   to begin with the newest version.
    func formerRegistrations(
        with tag: Tag, in hub: Hub.ID, before: Int64?, window: Int64
    ) async throws(StorageError) -> FormerRegistrations

    /// Returns the names of tags, in order.
    /// - Parameters:
    ///   - prefix: The prefix of the names, in lower case; empty for all names.
    ///   - last: The name after which the result begins; nil to begin with the first name.
    func tagNames(
        beginningWith prefix: String, after last: String?, in hub: Hub.ID, limit: Int
    ) async throws(StorageError) -> [String]

    /// Returns the different beginnings of tags up to and including their first colon, in order.
    /// - Parameter steps: The maximum number of names that are examined.
    func tagPrefixes(in hub: Hub.ID, steps: Int) async throws(StorageError) -> TagPrefixes
}

/// The beginnings of the tags of a hub, up to and including the first colon.
public struct TagPrefixes: Hashable, Sendable {
    /// The prefixes, such as `city:`.
    public var prefixes: [String] = []
    /// True if there are tags without a colon.
    public var hasPlain = false
    /// True if all tags of the hub were examined.
    public var isComplete = true

    public init() {}
}
