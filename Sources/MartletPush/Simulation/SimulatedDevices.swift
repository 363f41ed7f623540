public import MartletModel

/// The devices of one simulated service: who is there, who listens, what waits, what came.
public struct SimulatedDevices: Sendable {
    /// One app on one device.
    public struct Device: Sendable {
        /// The app.
        public let app: String
        /// How many devices there were before it.
        public let index: Int
        /// When the app was removed from the device; nil while it is there.
        public internal(set) var removedAt: Timestamp?
        /// How many event streams follow the device.
        public internal(set) var listeners = 0
        /// What came while nobody listened and is kept, oldest first.
        public internal(set) var stored: [SimulatedDelivery] = []
        /// What was accepted for the device, oldest first, the newest hundred.
        public internal(set) var inbox: [SimulatedDelivery] = []
        /// How many notifications were accepted for it.
        public internal(set) var accepted = 0
    }

    private static let inboxLimit = 100
    /// What was accepted since somebody last took it from here; nil where nobody does.
    public var news: [SimulatedDelivery]?
    private var devices: [String: Device] = [:]

    public init() {}

    public subscript(handle: String) -> Device? { devices[handle] }

    /// Every handle that was handed out or made up, oldest first.
    public var handles: [String] { devices.sorted { $0.value.index < $1.value.index }.map(\.key) }

    /// How many devices were handed out, those included whose app was removed.
    public var count: Int { devices.count }

    /// - Parameter isListening: Whether the device is one that listens from the start.
    mutating func add(_ handle: String, app: String, isListening: Bool = false) {
        devices[handle] = Device(app: app, index: devices[handle]?.index ?? devices.count)
        if isListening { devices[handle]?.listeners = 1 }
    }

    /// The device has said what became of a notification: that is its text from then on.
    mutating func record(_ text: String, on id: String, of handle: String) {
        guard let index = devices[handle]?.inbox.lastIndex(where: { $0.id == id }) else { return }
        devices[handle]?.inbox[index].text = text
    }

    /// The app leaves the device.
    /// - Returns: Whether the handle is known.
    public mutating func remove(_ handle: String, at now: Timestamp) -> Bool {
        guard devices[handle] != nil else { return false }
        if devices[handle]?.removedAt == nil { devices[handle]?.removedAt = now }
        devices[handle]?.stored = []
        return true
    }

    /// Somebody follows the device from now on.
    /// - Returns: What was kept for it and is still wanted, or nil for a device that is not there.
    public mutating func startListening(_ handle: String, at now: Timestamp) -> [SimulatedDelivery]? {
        guard let device = devices[handle], device.removedAt == nil else { return nil }
        devices[handle]?.listeners += 1
        devices[handle]?.stored = []
        return device.stored.filter { $0.keptUntil.map { $0 > now } ?? false }
    }

    /// Somebody who followed the device has gone.
    public mutating func stopListening(_ handle: String) {
        guard let device = devices[handle], device.listeners > 0 else { return }
        devices[handle]?.listeners -= 1
    }

    /// What became of a notification that the service took.
    enum Fate: String {
        case delivered
        /// Kept until somebody listens.
        case stored
        /// Not to be kept, and nobody listens.
        case discarded
    }

    /// Takes a notification for a known device.
    /// - Parameter keepingOlder: Whether one that is kept stays beside the new one; one for each device is the rule.
    mutating func accept(
        _ delivery: SimulatedDelivery, keepingOlder: (SimulatedDelivery) -> Bool = { _ in false }
    ) -> Fate {
        guard var device = devices.removeValue(forKey: delivery.handle) else { return .discarded }
        defer { devices[delivery.handle] = device }
        device.accepted += 1
        news?.append(delivery)
        device.inbox.append(delivery)
        if device.inbox.count > Self.inboxLimit { device.inbox.removeFirst() }
        if device.listeners > 0 { return .delivered }
        guard delivery.keptUntil != nil else { return .discarded }
        device.stored = (device.stored.filter(keepingOlder) + [delivery]).suffix(Self.inboxLimit)
        return .stored
    }
}
