import MartletModel

/// How a device wants to be registered.
struct DeviceRegistration: Hashable, Sendable {
    let handle: String
    let platform: String
    let tags: [String]
    /// The language of its messages; nil for that of each message.
    let language: String?
    /// What the request says of the device's key.
    var keyMembers: [String: JSON] = [:]

    init(handle: String, platform: String, tags: [String], language: String? = nil) {
        self.handle = handle
        self.platform = platform
        self.tags = tags
        self.language = language
    }

    /// The request's body.
    var json: JSON {
        var members: [String: JSON] = [
            "Platform": .string(platform), "Handle": .string(handle), "Tags": .array(tags.map { .string($0) }),
        ]
        members["Language"] = language.map { .string($0) }
        return .object(members.merging(keyMembers) { own, _ in own })
    }
}

/// What the app wants of the registration, in this process.
struct DesiredRegistration {
    enum Wish: Hashable, Sendable {
        case register(DeviceRegistration)
        case unregister
        /// The system gave no token; the app asks it again by this.
        case askAgain
    }

    /// Counts wishes: the last one is what the app wants.
    private(set) var number = 0
    /// The last one while it is not fulfilled and may still be.
    private(set) var open: Wish?
    /// What the app passed last in this process, for anyone who logs in next. Never kept beyond.
    private(set) var device: DeviceRegistration?
    /// Whether the open wish is tried in the background.
    var isInBackground = false
    /// Asks the system for a token.
    var askAgain: (@Sendable () async -> Void)?
    /// The last one told; nil at first, when the store has to be asked.
    private(set) var state: RegistrationState?
    private var observers: [Int: AsyncStream<RegistrationState>.Continuation] = [:]
    private var lastObserver = 0

    /// - Returns: Its number.
    mutating func add(_ wish: Wish?) -> Int {
        number += 1
        open = wish
        isInBackground = false
        switch wish {
        case .register(let device): self.device = device
        case .unregister, .askAgain: device = nil
        case nil: break
        }
        return number
    }

    /// The wish was fulfilled, or will not be.
    mutating func close() {
        open = nil
        isInBackground = false
    }

    mutating func tell(_ state: RegistrationState) {
        guard state != self.state else { return }
        self.state = state
        for observer in observers.values { observer.yield(state) }
    }

    mutating func add(_ observer: AsyncStream<RegistrationState>.Continuation) -> Int {
        lastObserver += 1
        observers[lastObserver] = observer
        return lastObserver
    }

    mutating func removeObserver(_ number: Int) {
        observers[number] = nil
    }
}
