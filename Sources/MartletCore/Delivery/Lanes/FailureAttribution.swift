import MartletModel

/// Decides whether single devices and connections fail, or the whole service. Each lane has one instance, and so has
/// each origin that devices have chosen.
///
/// The service fails if no connection to it can be made. It also fails if several different devices fail one after
/// another, and no push is answered in between. The failure of a push does not count if an answer to any push arrived
/// while the failing push was in progress, regardless of how many devices fail at once. A second failure of the same
/// device does not count either, nor does the failure of another device on the same broken connection. Once the service
/// is considered failing, each further failure confirms this, until an answer arrives.
struct FailureAttribution: Sendable, Equatable {
    enum Verdict: Sendable, Equatable {
        case devices
        case service
    }

    /// The number of different devices that must fail, without an answer in between, to show that the service fails.
    static let deviceLimit = 3
    /// How long a failure counts. This is longer than the longest pause of a lane and the maximum duration of a request
    /// together.
    static let window = Duration.seconds(120)

    /// The number of consecutive failures to connect that show that the service fails.
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

    /// - Parameter connectionLimit: The number of consecutive failures to connect that show that the service fails. It
    ///   is 1 for a lane. It is higher for an origin that a device has chosen, because there a single failure to
    ///   connect shows little.
    init(connectionLimit: Int = 1) {
        self.connectionLimit = connectionLimit
    }

    /// Records the results of pushes, and decides whether only devices have failed, or the whole service.
    /// - Parameter evidence: The results. Devices that are known to fail must be left out, because their failures show
    ///   nothing new.
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
        // A last answer with a time later than `now` is ignored, because that time was taken before the clock was set
        // back.
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

/// The results of pushes that were sent together, as evidence for failure attribution.
struct PushEvidence: Sendable, Equatable {
    struct Failure: Sendable, Equatable {
        var device: DeviceIdentity
        /// The number of the connection that broke; nil if only the request failed.
        var connection: Int?
        var outcome: Outcome
    }

    /// The maximum number of devices whose failures are kept. More devices would provide no further evidence.
    static let limit = 16

    /// When the pushes began.
    var startedAt: Timestamp
    var answers = 0
    /// The failures. Each of them is of a different device.
    private(set) var failures: [Failure] = []
    /// The number of pushes for which no connection could be made.
    var unreachable = 0

    init(startedAt: Timestamp) {
        self.startedAt = startedAt
    }

    /// Whether the failure of one more device can be recorded.
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

/// The identity of a device for failure attribution: its channel, or the handle of a direct send.
struct DeviceIdentity: Hashable, Sendable {
    private let number: Int64

    init(_ channel: ChannelID) {
        number = channel.rawValue
    }

    /// - Parameter handle: The handle of a direct send. Its hash becomes a negative number, so that it differs from the
    ///   number of every channel.
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
