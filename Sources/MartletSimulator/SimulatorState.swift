import MartletCore
import MartletHTTP
import MartletModel
import MartletPush
import Synchronization

/// The rules of every simulated service and those who follow its devices, behind one lock.
final class SimulatorState: Sendable {
    private struct Contents {
        var services: [any PushServiceSimulator]
        var listeners: [String: [Int: AsyncStream<SimulatedDelivery>.Continuation]] = [:]
        var nextListener = 0
    }

    /// How many notifications may wait for a listener that does not read.
    private static let listenerBuffer = 1000
    private let contents: Mutex<Contents>
    private let now: @Sendable () -> Timestamp

    init(_ services: [any PushServiceSimulator], now: @escaping @Sendable () -> Timestamp) {
        contents = Mutex(Contents(services: services))
        self.now = now
    }

    /// Whether one of the services answers requests for the path.
    func serves(_ path: Substring) -> Bool {
        contents.withLock { $0.services.contains { $0.serves(path) } }
    }

    /// What a hub needs to send to the services, by platform.
    func issueCredentials(
        origin: HTTPOrigin, authorityPEM: String
    ) throws(SimulatorError) -> [String: [String: String]] {
        try contents.withLock { (contents) throws(SimulatorError) in
            var credentials: [String: [String: String]] = [:]
            for index in contents.services.indices {
                let credential = try contents.services[index].issueCredential(
                    origin: origin, authorityPEM: authorityPEM)
                credentials[type(of: contents.services[index]).platform.rawValue] = credential.properties
            }
            return credentials
        }
    }

    /// What the services do to a new connection.
    func open(_ connection: HTTPConnection) -> [ConnectionStep] {
        contents.withLock { contents in
            contents.services.indices.flatMap { contents.services[$0].open(connection, at: now()) }
        }
    }

    func close(_ connection: UInt64) {
        contents.withLock { contents in
            for index in contents.services.indices { contents.services[index].close(connection) }
        }
    }

    /// The answer of the service that the request is for; nil where it is for none.
    func answer(_ request: HTTPRequest, path: Substring) -> SimulatedAnswer? {
        contents.withLock { contents in
            guard let index = contents.services.firstIndex(where: { $0.serves(path) }) else { return nil }
            let answer = contents.services[index].answer(request, at: now())
            // Handed on inside the lock, so that a listener receives in the order of acceptance.
            if let delivery = answer.delivery {
                for listener in contents.listeners[delivery.handle, default: [:]].values { listener.yield(delivery) }
            }
            return answer
        }
    }

    /// Follows a device: what was kept for it comes first.
    /// - Returns: nil for a device that is not there.
    func listen(to handle: String) -> (deliveries: AsyncStream<SimulatedDelivery>, stop: @Sendable () -> Void)? {
        contents.withLock { contents in
            guard let index = contents.services.firstIndex(where: { $0.devices[handle] != nil }),
                let kept = contents.services[index].devices.startListening(handle, at: now())
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
        contents.withLock { contents in
            contents.listeners[handle]?[listener] = nil
            if contents.listeners[handle]?.isEmpty == true { contents.listeners[handle] = nil }
            for index in contents.services.indices { contents.services[index].devices.stopListening(handle) }
        }
    }

    /// Ends every event stream, so that nothing keeps a shutdown waiting.
    func stopAllListening() {
        contents.withLock { contents in
            for listeners in contents.listeners.values {
                for listener in listeners.values { listener.finish() }
            }
        }
    }

    /// Lends the rules of one platform.
    /// - Throws: `SimulatorError` where there is no such platform, or what `body` throws.
    func with<Result: Sendable>(
        _ platform: PlatformID, _ body: (inout any PushServiceSimulator) throws(SimulatorError) -> Result
    ) throws(SimulatorError) -> Result {
        try contents.withLock { (contents) throws(SimulatorError) in
            guard let index = contents.services.firstIndex(where: { type(of: $0).platform == platform }) else {
                throw SimulatorError("\"platform\" names none that is simulated.")
            }
            return try body(&contents.services[index])
        }
    }

    /// Removes the app from a device; those who follow it are sent away.
    /// - Returns: Whether the handle is known.
    func remove(_ handle: String) -> Bool {
        contents.withLock { contents in
            for index in contents.services.indices
            where contents.services[index].devices.remove(handle, at: now()) {
                for listener in contents.listeners[handle, default: [:]].values { listener.finish() }
                return true
            }
            return false
        }
    }

    /// The platform and state of a device; nil for an unknown one.
    func device(_ handle: String) -> (platform: PlatformID, device: SimulatedDevices.Device)? {
        contents.withLock { contents in
            for service in contents.services {
                if let device = service.devices[handle] { return (type(of: service).platform, device) }
            }
            return nil
        }
    }

    /// The counters of every platform.
    var counters: [PlatformID: [String: Int]] {
        contents.withLock { contents in
            Dictionary(contents.services.map { (type(of: $0).platform, $0.counters) }) { first, _ in first }
        }
    }
}
