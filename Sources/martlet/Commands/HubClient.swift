import MartletCrypto
import MartletHTTP
import MartletModel
import MartletNetwork
import MartletServer

/// A caller of one hub's REST API.
struct HubClient {
    private let connection: ConnectionString
    private let origin: HTTPOrigin
    private let settings: TransportSettings
    /// The hub's name, as it is in addresses.
    let hub: String
    private let client: HTTPClient

    init(_ invocation: Invocation) throws {
        let text = try invocation.required("connection-string")
        do throws(ConnectionStringError) {
            connection = try ConnectionString(text)
        } catch {
            throw UsageError(description: error.description, command: invocation.command)
        }
        guard let origin = HTTPOrigin(connection.origin) else {
            throw ServerError("The connection string names no host.")
        }
        self.origin = origin
        settings = TransportSettings(
            trustedCertificatesPEM: try invocation["ca-file"].map { try TextFile.readText($0) })
        hub = segment(invocation.operand("HUB"))
        client = HTTPClient(loops: try EventLoopGroup(count: 1))
    }

    /// Sends one request with a signature of its own.
    /// - Throws: `ServerError` with the hub's sentence where it refuses.
    func call(
        _ method: HTTPMethod, _ target: String, fields: HTTPFields = [:], body: [UInt8] = []
    ) async throws -> HTTPResponse {
        var request = HTTPRequest(method, target, authority: origin.authority, fields: fields, body: body)
        request.fields["authorization"] = try token()
        let response = try await client.call(request, to: origin, settings)
        guard response.status.isSuccess else { throw Self.refusal(response) }
        return response
    }

    private static func refusal(_ response: HTTPResponse) -> ServerError {
        if response.status == .forbidden {
            return ServerError("The hub answered 403: this connection string has not the right to do that.")
        }
        let text = String(decoding: response.bytes, as: UTF8.self)
        let detail = NotificationDetails.text(of: "Detail", in: text) ?? text
        return ServerError("The hub answered \(response.status.code): \(NotificationDetails.withoutTracking(detail))")
    }

    private func token() throws -> String {
        let resource = "\(connection.origin)/\(hub)"
        let expiry = SystemTime().now + .seconds(300)
        return try SharedAccessToken.authorization(
            for: resource, keyName: connection.keyName, key: connection.key, expiry: expiry
        ) { message, key in
            Base64.encode(try HMACSHA256.authenticationCode(for: message, key: key))
        }
    }
}
