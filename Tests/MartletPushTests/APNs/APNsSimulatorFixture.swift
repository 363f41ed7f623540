import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

/// A simulated service that knows one app, with the requests that it accepts and the ways to spoil them.
struct APNsSimulatorFixture {
    static let now = APNsFixture.now
    var simulator: APNsSimulator
    let device: String
    /// Signed once: two signatures of the same claims are two tokens.
    let jwt: String

    init(_ change: (inout APNsSimulator.Configuration) -> Void = { _ in }) throws {
        var configuration = APNsSimulator.Configuration()
        change(&configuration)
        simulator = APNsSimulator(configuration)
        jwt = try Self.jwt()
        try simulator.register(app: Self.app())
        device = try simulator.addDevice(["topic": .string(APNsFixture.bundleID)])
    }

    static func app(_ changes: [String: JSON] = [:]) throws -> JSON {
        let key = try P256PrivateKey(pem: APNsFixture.keyPEM).publicKey
        let app: [String: JSON] = [
            "bundleId": .string(APNsFixture.bundleID), "teamId": .string(APNsFixture.teamID),
            "keyId": .string(APNsFixture.keyID), "publicKey": .string(try key.pem()),
        ]
        return .object(app.merging(changes) { $1 })
    }

    static func jwt(
        keyID: String = APNsFixture.keyID, teamID: String = APNsFixture.teamID, at now: Timestamp = now,
        key: P256PrivateKey? = nil
    ) throws -> String {
        try APNsProviderToken.sign(
            keyID: keyID, teamID: teamID, at: now, with: key ?? P256PrivateKey(pem: APNsFixture.keyPEM))
    }

    static func connection(_ id: UInt64 = 1, certificate: Certificate? = nil) -> HTTPConnection {
        HTTPConnection(
            id: id, peer: "127.0.0.1", isSecure: true, majorVersion: 2, peerCertificate: certificate?.der)
    }

    /// A request that is accepted, but for what is changed; nil leaves a field out.
    func request(
        _ changes: [String: String?] = [:], to token: String? = nil, body: String = #"{"aps":{"alert":"hello"}}"#,
        on connection: HTTPConnection = connection()
    ) throws -> HTTPRequest {
        var fields: [String: String] = [
            "authorization": "bearer \(jwt)", "apns-topic": APNsFixture.bundleID,
            "apns-push-type": "alert", "apns-priority": "10", "apns-expiration": "1700086400",
            "apns-id": "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
        ]
        for (name, value) in changes { fields[name] = value }
        let list = fields.sorted { $0.key < $1.key }.map { name, value in
            HTTPField(name, value, indexing: name == "authorization" ? .never : .allowed)
        }
        return HTTPRequest(
            .post, APNs.devicePath + (token ?? device), fields: HTTPFields(list), body: Array(body.utf8),
            connection: connection)
    }

    mutating func answer(_ request: HTTPRequest, at now: Timestamp = now) -> SimulatedAnswer {
        simulator.answer(request, at: now)
    }

    /// Follows the device from a moment on.
    mutating func listen(at now: Timestamp = now) throws -> [SimulatedDelivery] {
        let kept = simulator.devices.startListening(device, at: now)
        return try #require(kept)
    }

    /// Status and reason of an answer, such as `400 BadTopic`.
    mutating func verdict(_ request: HTTPRequest, at now: Timestamp = now) throws -> String {
        let response = answer(request, at: now).response
        let reason = response.bytes.isEmpty ? "" : try JSON(parsing: response.bytes)["reason"]?.string ?? "?"
        return "\(response.status.code) \(reason)"
    }
}
