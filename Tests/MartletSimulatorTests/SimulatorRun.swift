import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletNetwork
import MartletPush
import Synchronization
import Testing

@testable import MartletSimulator

/// A running simulator and a sender for it.
struct SimulatorRun {
    let simulator: Simulator
    let client: HTTPClient
    let key: P256PrivateKey
    let deadline = ContinuousClock.now + .seconds(60)

    /// Where the service is reached.
    var apns: HTTPOrigin { simulator.origins[APNsSimulator.platform] ?? simulator.origin }

    var settings: TransportSettings { TransportSettings(trustedCertificatesPEM: simulator.caCertificatePEM) }

    func control(_ method: HTTPMethod, _ path: String, _ body: JSON? = nil) async throws -> JSON {
        let response = try await send(method, path, body)
        try #require(response.status.isSuccess)
        return response.bytes.isEmpty ? .null : try JSON(parsing: response.bytes)
    }

    func status(_ method: HTTPMethod, _ path: String, _ body: JSON? = nil) async throws -> Int {
        try await send(method, path, body).status.code
    }

    func devices(_ count: Int) async throws -> [String] {
        var handles: [String] = []
        for _ in 0..<count {
            let device = try await control(
                .post, "/simulator/devices", ["platform": "apns", "topic": "com.example.app"])
            handles.append(try #require(device["handle"]?.string))
        }
        return handles
    }

    /// Sends a text to every handle in one batch and tells the outcomes in their order.
    /// - Parameter proof: The credential's properties but for where it is used; a token of `key` where none are given.
    func push(_ text: String, to handles: [String], with proof: [String: String]? = nil) async throws -> [Outcome] {
        let token = [
            "Token": try key.pem(), "KeyId": "ABC123DEFG", "AppId": "DEF123GHIJ", "AppName": "com.example.app",
        ]
        let service = try APNs(
            credential: Credential(
                (proof ?? token).merging([
                    "Endpoint": "\(apns)", "EndpointCertificateAuthority": simulator.caCertificatePEM,
                ]) { $1 }))
        let now = Simulator.timeOfDay()
        var signed: String?
        if case .token(let token) = try service.authorization(at: now) { signed = token.value }
        let message = try APNs.message(showing: text)
        var batch = RequestBatch(try service.shared(message, token: signed, expiry: now + .seconds(3600), at: now))
        for (index, handle) in handles.enumerated() {
            let id = MessageID(high: UInt64(index), low: 0)
            try Array(handle.utf8).withUnsafeBufferPointer {
                try service.append($0, id: id, message: message, to: &batch)
            }
        }
        let collected = Mutex([Int: Outcome]())
        await client.send(batch, before: deadline) { portion in
            collected.withLock { outcomes in
                for index in portion.plainSuccesses { outcomes[Int(index)] = .accepted }
                for answer in portion.answers {
                    outcomes[answer.index] =
                        switch answer.result {
                        case .success(let response): service.outcome(of: response, at: now)
                        case .failure(let error):
                            Outcome(.pnsUnreachable, reason: error.description, .retryElsewhere)
                        }
                }
            }
        }
        return collected.withLock { outcomes in handles.indices.compactMap { outcomes[$0] } }
    }

    private func send(_ method: HTTPMethod, _ path: String, _ body: JSON?) async throws -> HTTPResponse {
        try await client.send(
            HTTPRequest(method, path, body: body?.bytes ?? []), to: simulator.origin, settings: settings,
            before: deadline)
    }
}

/// Starts a simulator, lends it with a sender, and shuts both down.
func withSimulator(acceptsAnyKey: Bool = true, _ body: (SimulatorRun) async throws -> Void) async throws {
    let simulator = try await Simulator.start(Simulator.Configuration(acceptsAnyKey: acceptsAnyKey))
    let client = HTTPClient(loops: try EventLoopGroup(count: 1))
    let result: Result<Void, any Error>
    do {
        result = .success(try await body(SimulatorRun(simulator: simulator, client: client, key: try .generate())))
    } catch {
        result = .failure(error)
    }
    await client.shutDown()
    await simulator.shutDown()
    try result.get()
}
