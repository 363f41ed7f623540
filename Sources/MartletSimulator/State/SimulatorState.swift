import MartletCore
import MartletHTTP
import MartletModel
import MartletPush
import Synchronization

/// The rules of every simulated service, the faults, and the event streams that are open for devices, all protected by
/// one lock.
final class SimulatorState: Sendable {
    struct Contents {
        var services: [SimulatedService]
        var plan: FaultPlan
        /// The duration by which the simulated clock is ahead of the real clock; negative if it is behind.
        var offset: Duration = .zero
        var listeners: [String: [Int: AsyncStream<SimulatedDelivery>.Continuation]] = [:]
        var nextListener = 0
        /// The connections of real devices.
        var sockets = DeviceSockets()
        /// The ledger of every accepted message; nil for none.
        let ledger: SimulatorLedger?
        /// The services and faults that a reset restores.
        var initial: (services: [SimulatedService], plan: FaultPlan)
    }

    /// The maximum number of notifications that wait for the reader of an event stream. If another notification
    /// arrives, the oldest waiting notification is dropped.
    private static let listenerBuffer = 1000
    private let contents: Mutex<Contents>
    private let clock: @Sendable () -> Timestamp

    init(
        _ services: [any PushServiceSimulator], plan: FaultPlan = FaultPlan(), ledger: SimulatorLedger? = nil,
        now: @escaping @Sendable () -> Timestamp
    ) {
        var services = services.map { SimulatedService(rules: $0) }
        for index in services.indices where ledger != nil { services[index].rules.devices.news = [] }
        contents = Mutex(Contents(services: services, plan: plan, ledger: ledger, initial: (services, plan)))
        clock = now
    }

    /// Calls `body` with the whole state.
    /// - Parameter body: Receives the state and the current simulated time.
    func withContents<Result: Sendable, Failure: Error>(
        _ body: (inout Contents, Timestamp) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try contents.withLock { (contents) throws(Failure) in try body(&contents, clock() + contents.offset) }
    }

    /// Calls `body` with one service.
    /// - Throws: `SimulatorError` if there is no such platform, or the error that `body` throws.
    func with<Result: Sendable>(
        _ platform: PlatformID, _ body: (inout SimulatedService) throws(SimulatorError) -> Result
    ) throws(SimulatorError) -> Result {
        try withContents { (contents, _) throws(SimulatorError) in
            guard let index = contents.services.firstIndex(where: { $0.platform == platform }) else {
                throw SimulatorError("\"platform\" names none that is simulated.")
            }
            return try body(&contents.services[index])
        }
    }

    /// Sets the origin of every service, and makes each service issue the credential that a hub needs to send to that
    /// service.
    ///
    /// A later reset restores this state.
    /// - Parameter sockets: The addresses that real devices connect to, for the services that support them.
    func issueCredentials(
        origins: [PlatformID: HTTPOrigin], sockets: [PlatformID: HTTPOrigin], authorityPEM: String
    ) throws(SimulatorError) {
        try withContents { (contents, _) throws(SimulatorError) in
            for index in contents.services.indices {
                let platform = contents.services[index].platform
                guard let origin = origins[platform] else { continue }
                contents.services[index].socketOrigin = sockets[platform]
                try contents.services[index].issueCredential(origin: origin, authorityPEM: authorityPEM)
            }
            contents.initial = (contents.services, contents.plan)
        }
    }

    /// Removes all apps, devices, faults and counters except those present at the start, and resets the clock. Ends all
    /// event streams and closes the connections of real devices.
    func reset() {
        withContents { contents, _ in
            contents.finishListeners()
            contents.sockets.closeAll()
            contents.services = contents.initial.services
            contents.plan = contents.initial.plan
            contents.offset = .zero
        }
    }

    /// Moves the simulated clock forward or back.
    func advanceClock(by time: Duration) {
        withContents { contents, _ in contents.offset += time }
    }

    var now: Timestamp { withContents { _, now in now } }

    // MARK: Devices

    /// Opens an event stream with the notifications of a device.
    ///
    /// The stream begins with the notifications that were stored while the device had no stream.
    /// - Returns: The stream, and a function that closes it; nil if the device does not exist or its app was removed.
    func listen(to handle: String) -> (deliveries: AsyncStream<SimulatedDelivery>, stop: @Sendable () -> Void)? {
        withContents { contents, now in
            guard let index = contents.services.firstIndex(where: { $0.rules.devices[handle] != nil }),
                let kept = contents.services[index].rules.devices.startListening(handle, at: now)
            else { return nil }
            let (stream, continuation) = AsyncStream.makeStream(
                of: SimulatedDelivery.self, bufferingPolicy: .bufferingNewest(Self.listenerBuffer))
            for delivery in kept { continuation.yield(delivery) }
            let listener = contents.nextListener
            contents.nextListener += 1
            contents.listeners[handle, default: [:]][listener] = continuation
            return (stream, { [weak self] in self?.stopListening(listener, to: handle) })
        }
    }

    private func stopListening(_ listener: Int, to handle: String) {
        withContents { contents, _ in
            guard contents.listeners[handle]?.removeValue(forKey: listener) != nil else { return }
            if contents.listeners[handle]?.isEmpty == true { contents.listeners[handle] = nil }
            for index in contents.services.indices { contents.services[index].rules.devices.stopListening(handle) }
        }
    }

    /// Ends every event stream, so that no stream delays a shutdown.
    func stopAllListening() {
        withContents { contents, _ in contents.finishListeners() }
    }

    /// Removes the app from a device and ends the device's event streams.
    /// - Returns: Whether the handle is known.
    func remove(_ handle: String) -> Bool {
        withContents { contents, now in
            for index in contents.services.indices
            where contents.services[index].rules.devices.remove(handle, at: now) {
                for listener in contents.listeners[handle, default: [:]].values { listener.finish() }
                return true
            }
            return false
        }
    }

    /// Returns the platform and state of a device; nil for an unknown device.
    func device(_ handle: String) -> (platform: PlatformID, device: SimulatedDevices.Device)? {
        withContents { contents, _ in
            for service in contents.services {
                if let device = service.rules.devices[handle] { return (service.platform, device) }
            }
            return nil
        }
    }
}

extension SimulatorState.Contents {
    /// Passes a notification to all event streams of its device.
    ///
    /// The caller still holds the lock under which the service accepted the notification, so that every stream gets the
    /// notifications in the order in which they were accepted.
    func deliver(_ delivery: SimulatedDelivery) {
        for listener in listeners[delivery.handle, default: [:]].values { listener.yield(delivery) }
    }

    mutating func finishListeners() {
        for listeners in listeners.values {
            for listener in listeners.values { listener.finish() }
        }
        listeners = [:]
    }
}
