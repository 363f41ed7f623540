import MartletModel

/// The registration that the app wants for this device.
struct DeviceRegistration: Hashable, Sendable {
    let handle: String
    let platform: String
    let tags: [String]
    /// The language of the messages for the device; nil selects each message's own language.
    let language: String?
    /// The members of the request that describe the device's key.
    var keyMembers: [String: JSON] = [:]

    init(handle: String, platform: String, tags: [String], language: String? = nil) {
        self.handle = handle
        self.platform = platform
        self.tags = tags
        self.language = language
    }

    /// The body of the request that registers the device.
    var json: JSON {
        var members: [String: JSON] = [
            "Platform": .string(platform), "Handle": .string(handle), "Tags": .array(tags.map { .string($0) }),
        ]
        members["Language"] = language.map { .string($0) }
        return .object(members.merging(keyMembers) { own, _ in own })
    }
}

/// The app's last wish for the registration of this device: to register it, to unregister it, or to get a device token
/// first. The wish is kept only in memory.
struct DesiredRegistration {
    enum Wish: Hashable, Sendable {
        case register(DeviceRegistration)
        case unregister
        /// The system provided no device token. The app must ask for one again, with `DesiredRegistration.askAgain`.
        case askAgain
    }

    /// The number of the last wish. Work for a wish with a lower number is superseded.
    private(set) var number = 0
    /// The last wish, while it is neither fulfilled nor given up; nil otherwise.
    private(set) var open: Wish?
    /// The device that the app passed last in this process, to be registered for the next user who logs in; nil if the
    /// app has unregistered it since. Never stored.
    private(set) var device: DeviceRegistration?
    /// Whether the open wish is carried out by the background retries.
    var isInBackground = false
    /// The closure that the app passed to `PushClient.registrationFailed(_:askAgain:)`. It asks the system for a device
    /// token again.
    var askAgain: (@Sendable () async -> Void)?
    /// The last reported state; nil at first, when the state must be read from the store.
    private(set) var state: RegistrationState?
    private var observers: [Int: AsyncStream<RegistrationState>.Continuation] = [:]
    private var lastObserver = 0

    /// Adds a wish, which replaces the open wish. nil only withdraws the open wish.
    /// - Returns: The number of the new wish.
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

    /// Closes the open wish, because it was fulfilled or is given up.
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
