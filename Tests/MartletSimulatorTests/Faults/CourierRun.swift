import MartletHTTP
import MartletModel
import MartletNetwork
import MartletPush
import Testing

@testable import MartletSimulator

/// A running simulator of the courier, with faults, and a client for it.
struct CourierRun {
    let simulator: Simulator
    let client: HTTPClient
    let deadline = ContinuousClock.now + .seconds(120)

    /// What a request came to: the status and body of its answer, or the kind of the failure.
    func send(
        _ handle: String = "alice", version: TransportSettings.Version = .http2, path: String? = nil,
        body: [UInt8] = Array("hello".utf8), patience: Duration = .seconds(120)
    ) async -> Result<HTTPResponse, TransportError> {
        do throws(TransportError) {
            return .success(try await request(handle, version, path, body, patience))
        } catch {
            return .failure(error)
        }
    }

    private func request(
        _ handle: String, _ version: TransportSettings.Version, _ path: String?, _ body: [UInt8], _ patience: Duration
    ) async throws(TransportError) -> HTTPResponse {
        let origin = simulator.origins[Courier.platform] ?? simulator.origin
        return try await client.send(
            HTTPRequest(.post, path ?? "/parcels/\(handle)", authority: origin.authority, body: body), to: origin,
            settings: TransportSettings(version: version, trustedCertificatesPEM: simulator.caCertificatePEM),
            before: .now + patience)
    }

    /// How often the service took something for a handle.
    func taken(_ handle: String = "alice") async throws -> Int {
        try await count("taken.\(handle)")
    }

    func count(_ name: String) async throws -> Int {
        let (_, counters) = try await control(.get, "/simulator/counters")
        return counters["courier"]?[name]?.integer.map(Int.init) ?? 0
    }

    func control(_ method: HTTPMethod, _ path: String, _ body: JSON? = nil) async throws -> (Int, JSON) {
        let response = try await client.send(
            HTTPRequest(method, path, authority: simulator.origin.authority, body: body?.bytes ?? []),
            to: simulator.origin,
            settings: TransportSettings(trustedCertificatesPEM: simulator.caCertificatePEM), before: deadline)
        return (response.status.code, response.bytes.isEmpty ? .null : try JSON(parsing: response.bytes))
    }
}

extension Result where Success == HTTPResponse, Failure == TransportError {
    /// `200 taken 5`, or the kind of the failure.
    var summary: String {
        switch self {
        case .success(let response):
            "\(response.status.code) \(String(decoding: response.bytes, as: UTF8.self))"
        case .failure(let error): error.kind.rawValue
        }
    }
}

/// Starts a simulator of the courier with faults as a flag spells them, lends it with a client, and shuts both down.
func withCourier(
    _ faults: String = "", seed: UInt64 = 0, _ body: (CourierRun) async throws -> Void
) async throws {
    var configuration = Simulator.Configuration()
    configuration.services = [Courier()]
    configuration.faults = FaultPlan(seed: seed)
    for text in faults.split(separator: ";") {
        try configuration.faults.add(FaultRule(text: text), at: Simulator.timeOfDay())
    }
    let simulator = try await Simulator.start(configuration)
    let client = HTTPClient(loops: try EventLoopGroup(count: 1))
    let result: Result<Void, any Error>
    do {
        result = .success(try await body(CourierRun(simulator: simulator, client: client)))
    } catch {
        result = .failure(error)
    }
    await client.shutDown()
    await simulator.shutDown()
    try result.get()
}
