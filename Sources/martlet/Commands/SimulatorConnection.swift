import MartletHTTP
import MartletModel
import MartletNetwork
import MartletServer

/// A connection to the control interface of a simulator, which the options `simulator` and `simulator-ca-file` specify.
struct SimulatorConnection {
    static let authority = Option(
        "simulator-ca-file", "FILE", "The authority to trust at the simulator; found by itself on loopback.")

    let client: HTTPClient
    let origin: HTTPOrigin
    let settings: TransportSettings

    init(_ invocation: Invocation) throws {
        origin = try invocation.required("simulator", as: "https://HOST:PORT") { text in
            HTTPOrigin(text).flatMap { $0.scheme == .https ? $0 : nil }
        }
        let pem: String?
        if let file = invocation["simulator-ca-file"] {
            pem = try TextFile.readText(file)
        } else {
            pem = try SimulatorAuthority.find(port: origin.port)
        }
        settings = TransportSettings(trustedCertificatesPEM: pem)
        client = HTTPClient(loops: try EventLoopGroup(count: 1))
    }

    /// Returns the simulator's description of its services, by platform.
    func services() async throws -> JSON {
        try await call(.get, "/simulator/services", expecting: .ok)
    }

    /// Returns the credential that a hub needs to send to one of the simulated services.
    /// - Parameter platform: A name of the platform, or an alias.
    func credential(for platform: String) async throws -> [String: JSON] {
        let services = try await services()
        guard let name = Platforms.name(of: platform), let credential = services[name]?["credential"]?.object else {
            throw ServerError("The simulator has no service of the platform \(platform).")
        }
        return credential
    }

    /// Sends a request to the simulator.
    /// - Throws: `ServerError` with the simulator's message if the simulator answers with another status than `status`.
    func call(
        _ method: HTTPMethod, _ path: String, _ body: JSON? = nil, expecting status: HTTPStatus
    ) async throws -> JSON {
        let request = HTTPRequest(
            method, path, authority: origin.authority, fields: ["content-type": "application/json"],
            body: body?.bytes ?? [])
        let response = try await client.call(request, to: origin, settings)
        let answer = try JSON(parsing: response.bytes)
        guard response.status == status else {
            throw ServerError(answer["error"]?.string ?? "The simulator answered \(response.status.code).")
        }
        return answer
    }
}
