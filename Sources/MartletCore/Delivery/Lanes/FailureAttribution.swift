import MartletModel

/// Decides from what pushes come to whether single devices and connections fail, or the service does: one instance for
/// each lane, and one for each address that devices have chosen.
///
/// The service fails where no connection to it can be made, or where several different devices fail one after another and
/// nobody is answered in between. A failure says nothing where an answer arrived while that push was under way, however many
/// devices fail at once; nor does a second failure of the same device, or of another device on the connection that broke.
/// After that each further failure confirms it, until an answer arrives.
struct FailureAttribution: Sendable, Equatable {
    enum Verdict: Sendable, Equatable {
        case devices
        case service
    }

    /// Different devices without an answer between them that stand for the service.
    static let deviceLimit = 3
    /// How long a failure counts. It is longer than the longest pause with the time that a request may take.
    static let window = Duration.seconds(120)

    /// Failed connections in a row that stand for the service.
    private let connectionLimit: Int
    private(set) var lastAnswer: Timestamp?
    private var failures: [Failure] = []
    private var unreachable = 0
    private var isFailing = false

    private struct Failure: Sendable, Equatable {
        var device: DeviceIdentity
        var connection: Int?
        var at: Timestamp
    }

    /// - Parameter connectionLimit: Failed connections in a row that stand for the service: of an address that a stranger
    ///   chose, one says little.
    init(connectionLimit: Int = 1) {
        self.connectionLimit = connectionLimit
    }

    /// - Parameter evidence: Without devices that are known to fail: they show nothing new.
    mutating func record(_ evidence: PushEvidence, at now: Timestamp) -> Verdict {
        guard evidence.answers == 0 else {
            self = FailureAttribution(connectionLimit: connectionLimit)
            lastAnswer = now
            return .devices
        }
        unreachable = min(unreachable + evidence.unreachable, connectionLimit)
        if !wasAnswered(after: evidence.startedAt, at: now) { add(evidence.failures, at: now) }
        let isNew = evidence.unreachable > 0 || !evidence.failures.isEmpty
        isFailing = isFailing || unreachable >= connectionLimit || failures.count >= Self.deviceLimit
        return isFailing && isNew ? .service : .devices
    }

    private func wasAnswered(after start: Timestamp, at now: Timestamp) -> Bool {
        // An answer from the future was noted before the clock was set back.
        lastAnswer.map { $0 > start && $0 <= now } ?? false
    }

    private mutating func add(_ new: [PushEvidence.Failure], at now: Timestamp) {
        failures.removeAll { $0.at + Self.window <= now || $0.at > now + Self.window }
        for failure in new where failures.count < Self.deviceLimit {
            let isKnown = failures.contains { known in
                known.device == failure.device || (known.connection != nil && known.connection == failure.connection)
            }
            if !isKnown {
                failures.append(Failure(device: failure.device, connection: failure.connection, at: now))
            }
        }
    }
}

/// What pushes that were sent together have shown.
struct PushEvidence: Sendable, Equatable {
    struct Failure: Sendable, Equatable {
        var device: DeviceIdentity
        /// The connection that broke; nil where only the request failed.
        var connection: Int?
        var outcome: Outcome
    }

    /// Failures of more devices show nothing more.
    static let limit = 16

    /// When they were begun.
    var startedAt: Timestamp
    var answers = 0
    /// Of different devices.
    private(set) var failures: [Failure] = []
    /// Pushes for which no connection could be made.
    var unreachable = 0

    init(startedAt: Timestamp) {
        self.startedAt = startedAt
    }

    /// Whether a failure of one more device is kept.
    var hasRoom: Bool { failures.count < Self.limit }

    mutating func add(_ failure: Failure) {
        guard hasRoom, !failures.contains(where: { $0.device == failure.device }) else { return }
        failures.append(failure)
    }

    func without(_ isKnown: (DeviceIdentity) -> Bool) -> PushEvidence {
        var rest = self
        rest.failures.removeAll { isKnown($0.device) }
        return rest
    }
}

/// A device as failures are attributed to it: its channel, or the handle of a direct send.
struct DeviceIdentity: Hashable, Sendable {
    private let number: Int64

    init(_ channel: ChannelID) {
        number = channel.rawValue
    }

    /// - Parameter handle: Its hash is below zero, where no channel is.
    init(handle: UnsafeBufferPointer<UInt8>) {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(handle))
        number = Int64(hasher.finalize()) | .min
    }
}

extension AudiencePage {
    func identity(of index: Int) -> DeviceIdentity {
        let channel = channel(index)
        return channel == .none ? withHandle(index) { DeviceIdentity(handle: $0) } : DeviceIdentity(channel)
    }
}
