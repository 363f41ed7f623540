public import MartletModel

/// The devices of one simulated service, with their listeners, stored notifications and inboxes.
public struct SimulatedDevices: Sendable {
    /// One app on one device.
    public struct Device: Sendable {
        /// The identifier of the app on the device, in the form of the platform, such as a bundle id for APNs.
        public let app: String
        /// The number of devices that were created before this one.
        public let index: Int
        /// The time when the app was removed from the device; nil while it is installed.
        public internal(set) var removedAt: Timestamp?
        /// The number of event streams that are open for the device.
        public internal(set) var listeners = 0
        /// The notifications that arrived while no event stream was open for the device, and that are stored for the
        /// next event stream, oldest first. At most the newest hundred are stored.
        public internal(set) var stored: [SimulatedDelivery] = []
        /// The newest hundred notifications that were accepted for the device, oldest first.
        public internal(set) var inbox: [SimulatedDelivery] = []
        /// The total number of notifications that were accepted for the device.
        public internal(set) var accepted = 0
    }

    private static let inboxLimit = 100
    /// The notifications that were accepted for any device since the owner of this value last emptied the array; nil if
    /// the owner does not collect them.
    public var news: [SimulatedDelivery]?
    private var devices: [String: Device] = [:]

    public init() {}

    public subscript(handle: String) -> Device? { devices[handle] }

    /// The handles of all devices, oldest device first. The service issued some of them, and tests made up the others.
    public var handles: [String] { devices.sorted { $0.value.index < $1.value.index }.map(\.key) }

    /// The number of devices, including those whose app was removed.
    public var count: Int { devices.count }

    /// Adds a device. If the handle exists already, a new device replaces the old one and keeps its position in
    /// `handles`.
    /// - Parameter isListening: Whether the device listens from the start.
    mutating func add(_ handle: String, app: String, isListening: Bool = false) {
        devices[handle] = Device(app: app, index: devices[handle]?.index ?? devices.count)
        if isListening { devices[handle]?.listeners = 1 }
    }

    /// Replaces the text of a notification in a device's inbox by the device's report on that notification.
    mutating func record(_ text: String, on id: String, of handle: String) {
        guard let index = devices[handle]?.inbox.lastIndex(where: { $0.id == id }) else { return }
        devices[handle]?.inbox[index].text = text
    }

    /// Removes the app from the device.
    /// - Returns: Whether the handle is known.
    public mutating func remove(_ handle: String, at now: Timestamp) -> Bool {
        guard devices[handle] != nil else { return false }
        if devices[handle]?.removedAt == nil { devices[handle]?.removedAt = now }
        devices[handle]?.stored = []
        return true
    }

    /// Records that an event stream was opened for a device, and removes the device's stored notifications.
    /// - Returns: The stored notifications that have not expired; nil if the device does not exist or its app was
    ///   removed.
    public mutating func startListening(_ handle: String, at now: Timestamp) -> [SimulatedDelivery]? {
        guard let device = devices[handle], device.removedAt == nil else { return nil }
        devices[handle]?.listeners += 1
        devices[handle]?.stored = []
        return device.stored.filter { $0.keptUntil.map { $0 > now } ?? false }
    }

    /// Records that an event stream of a device was closed.
    public mutating func stopListening(_ handle: String) {
        guard let device = devices[handle], device.listeners > 0 else { return }
        devices[handle]?.listeners -= 1
    }

    /// The result of accepting a notification.
    enum Fate: String {
        case delivered
        /// The notification was stored until an event stream is opened for the device.
        case stored
        /// The notification was discarded, because no event stream is open for the device and the service does not
        /// store a notification of this kind.
        case discarded
    }

    /// Accepts a notification for a known device.
    /// - Parameter keepingOlder: Returns whether a notification that is already stored for the device stays stored
    ///   beside the new one. By default, the new notification replaces all stored notifications.
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
