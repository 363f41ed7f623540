public import MartletCore
import MartletCrypto
public import MartletHTTP
public import MartletModel

/// A simulator of the Apple Push Notification service as seen by providers, with made-up devices.
public struct APNsSimulator: PushServiceSimulator {
    /// The settings of the simulated service: its environment, its limits, and whether it accepts unknown senders.
    public struct Configuration: Sendable {
        public var environment = APNsEnvironment.sandbox
        /// Whether provider tokens that were signed with unregistered keys are accepted without a check of their
        /// signature, for the topics of all apps that are not registered.
        public var acceptsAnyKey = false
        /// The maximum number of open requests on a connection whose sender is authenticated.
        public var streamLimit: UInt32 = 1000
        /// The maximum number of pushes to one device per second; nil for no limit.
        public var pushesPerSecond: Int?

        public init() {}
    }

    public static let platform = APNs.descriptor.platform
    /// The maximum number of open requests on a connection before its sender is authenticated.
    public static let firstStreamLimit: UInt32 = 1

    public var devices = SimulatedDevices()
    public internal(set) var counters: [String: Int] = [:]

    let configuration: Configuration
    var keys: APNsProviderKeys
    var connections: [UInt64: APNsSimulatedConnection] = [:]
    /// The team of each app, by bundle id.
    var teams: [String: String] = [:]
    var recentPushes: [String: [Timestamp]] = [:]

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        keys = APNsProviderKeys(acceptsAnyKey: configuration.acceptsAnyKey)
    }

    public mutating func open(_ connection: HTTPConnection, at now: Timestamp) -> [ConnectionStep] {
        do throws(APNsRefusal) {
            connections[connection.id] = try APNsSimulatedConnection(
                connection, environment: configuration.environment, at: now)
            guard connections[connection.id]?.certificate != nil else { return [.announce(streamLimit: 1)] }
            connections[connection.id]?.isTrusted = true
            return [.announce(streamLimit: configuration.streamLimit)]
        } catch {
            count("refused.\(error.reason)")
            return error.steps
        }
    }

    public mutating func close(_ connection: UInt64) {
        connections[connection] = nil
    }

    public mutating func answer(_ request: HTTPRequest, at now: Timestamp) -> SimulatedAnswer {
        answer(request, at: now) { simulator, push in simulator.accept(push, on: request.connection?.id) }
    }

    mutating func answer(
        _ request: HTTPRequest, at now: Timestamp,
        _ take: (inout APNsSimulator, APNsSimulatedPush) throws(APNsRefusal) -> SimulatedAnswer
    ) -> SimulatedAnswer {
        count("requests")
        let id = request.fields["apns-id"].flatMap(Self.canonicalID) ?? Self.makeID()
        do throws(APNsRefusal) {
            return try take(&self, try judge(request, id: id, at: now))
        } catch {
            return refuse(error, id: id)
        }
    }

    mutating func refuse(_ error: APNsRefusal, id: String) -> SimulatedAnswer {
        count("refused.\(error.reason)")
        return SimulatedAnswer(error.response(id: id), steps: error.steps)
    }

    public mutating func register(app: JSON) throws(SimulatorError) {
        let bundleID = try Self.member("bundleId", of: app)
        let teamID = try Self.member("teamId", of: app)
        let keyID = try Self.member("keyId", of: app)
        let publicKey = try Self.publicKey(pem: try Self.member("publicKey", of: app))
        let environment = app["environment"]?.string.map(APNsEnvironment.init)
        if case .some(.none) = environment {
            throw SimulatorError("\"environment\" must be \"sandbox\" or \"production\", or left out for both.")
        }
        teams[bundleID] = teamID
        keys.register(
            APNsProviderKeys.Key(teamID: teamID, publicKey: publicKey, environment: environment.flatMap(\.self)),
            id: keyID)
    }

    public mutating func issueCredential(
        origin: HTTPOrigin, authorityPEM: String
    ) throws(SimulatorError) -> Credential {
        do throws(CryptoError) {
            let key = try P256PrivateKey.generate()
            // If unregistered keys are accepted, the example app is not bound to a team, so that keys of any team can
            // send to it.
            if !configuration.acceptsAnyKey { teams[Self.exampleBundleID] = Self.exampleTeamID }
            keys.register(
                APNsProviderKeys.Key(teamID: Self.exampleTeamID, publicKey: key.publicKey, environment: nil),
                id: Self.exampleKeyID)
            return Credential([
                APNsCredential.Property.token: try key.pem(),
                APNsCredential.Property.keyID: Self.exampleKeyID,
                APNsCredential.Property.teamID: Self.exampleTeamID,
                APNsCredential.Property.bundleID: Self.exampleBundleID,
                APNsCredential.Property.endpoint: origin.description,
                APNsCredential.Property.endpointAuthority: authorityPEM,
            ])
        } catch {
            throw SimulatorError("A credential cannot be made: \(error)")
        }
    }

    /// The example app. Issued credentials belong to it, and so do devices whose description names no app.
    private static let exampleBundleID = "com.example.app"
    private static let exampleTeamID = "TEAM000001"
    private static let exampleKeyID = "KEY0000001"

    public mutating func addDevice(_ description: JSON) throws(SimulatorError) -> String {
        let topic = description["topic"]?.string ?? Self.exampleBundleID
        guard APNsHeaders.isTopic(topic) else {
            throw SimulatorError(
                "\"topic\" must be the app's bundle id, such as com.example.app; behind it, for a token that is not "
                    + "for alerts, the suffix of its push type.")
        }
        let token = Hex.encode(RandomBytes.generate(32))
        devices.add(token, app: topic)
        return token
    }

    private static func member(_ name: String, of app: JSON) throws(SimulatorError) -> String {
        guard let text = app[name]?.string, !text.isEmpty else {
            throw SimulatorError("\"\(name)\" must be a text that is not empty.")
        }
        return text
    }

    private static func publicKey(pem: String) throws(SimulatorError) -> P256PublicKey {
        do throws(CryptoError) {
            return try P256PublicKey(pem: pem)
        } catch {
            throw SimulatorError("\"publicKey\" cannot be used: \(error)")
        }
    }

    mutating func accept(_ push: APNsSimulatedPush, on connection: UInt64?) -> SimulatedAnswer {
        count("accepted")
        var steps: [ConnectionStep] = []
        if let connection, connections[connection]?.isTrusted == false {
            connections[connection]?.isTrusted = true
            steps = [.announce(streamLimit: configuration.streamLimit)]
        }
        let fate = devices.accept(push.delivery)
        count(fate.rawValue)
        var fields: HTTPFields = ["apns-id": push.delivery.id]
        if configuration.environment == .sandbox { fields["apns-unique-id"] = Self.makeID() }
        return SimulatedAnswer(
            HTTPResponse(.ok, fields: fields), steps: steps, delivery: fate == .delivered ? push.delivery : nil)
    }

    mutating func count(_ name: String) {
        counters[name, default: 0] += 1
    }

    /// Returns the id in lower case; nil if it is not a UUID, with 8-4-4-4-12 hexadecimal digits.
    static func canonicalID(_ text: String) -> String? {
        let groups = text.lowercased().split(separator: "-", omittingEmptySubsequences: false)
        guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12], Hex.decode(groups.joined()) != nil else { return nil }
        return groups.joined(separator: "-")
    }

    private static func makeID() -> String {
        var bytes = RandomBytes.generate(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array(Hex.encode(bytes))
        let groups = [digits[..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20...]]
        return groups.map { String($0) }.joined(separator: "-")
    }
}
