import MartletCrypto
import MartletHTTP
import MartletModel
import MartletNetwork
import MartletServer

/// A client of one hub's REST API. It uses either a connection string, or administrator access to the server of a data
/// directory.
struct HubClient {
    private enum Way {
        case signed(SignedHubClient)
        case administration(Administration)
    }

    private let way: Way
    private let name: String
    /// The hub's name, encoded for URLs.
    var hub: String { segment(name) }

    init(_ invocation: Invocation) throws {
        name = invocation.operand("HUB")
        way =
            if let text = invocation["connection-string"] {
                .signed(try SignedHubClient(text, hub: segment(name), invocation))
            } else {
                .administration(try Administration(invocation))
            }
    }

    /// Sends one request.
    /// - Throws: `ServerError` with the hub's message if the hub refuses the request.
    func call(
        _ method: HTTPMethod, _ target: String, fields: HTTPFields = [:], body: [UInt8] = []
    ) async throws -> HTTPResponse {
        let response =
            switch way {
            case .signed(let client): try await client.respond(method, target, fields: fields, body: body)
            case .administration(let administration):
                try await administration.rest(method, target, fields: fields, body: body)
            }
        guard response.status.isSuccess else { throw refusal(response) }
        return response
    }

    private func refusal(_ response: HTTPResponse) -> ServerError {
        if response.status == .forbidden {
            return ServerError("The hub answered 403: this connection string does not have the right for that.")
        }
        let text = String(decoding: response.bytes, as: UTF8.self)
        // The hub answers with XML, and the admin socket in front of it with JSON.
        let sentence =
            NotificationDetails.text(of: "Detail", in: text) ?? (try? JSON(parsing: response.bytes))?["error"]?.string
        let detail = NotificationDetails.withoutTracking(sentence ?? text)
        let unknown = response.status == .notFound && detail.contains("No service is hosted")
        return ServerError(
            "The hub answered \(response.status.code): \(detail)" + (unknown ? " There is no hub named '\(name)'." : "")
        )
    }
}

/// A client of one hub's REST API that signs its requests.
struct SignedHubClient {
    private let connection: ConnectionString
    private let origin: HTTPOrigin
    private let settings: TransportSettings
    private let hub: String
    private let client: HTTPClient

    /// - Parameter version: The HTTP version of the connections. With `.http1`, each connection has one request at a
    ///   time. So if an answer is too long and its connection is closed, no other request fails.
    init(
        _ text: String, hub: String, version: TransportSettings.Version = .negotiated, _ invocation: Invocation
    ) throws {
        self.hub = hub
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
            version: version,
            trustedCertificatesPEM: try invocation["ca-file"].map { try TextFile.readText($0) })
        client = HTTPClient(loops: try EventLoopGroup(count: 1))
    }

    /// The server's address, without a secret.
    var address: String { connection.origin }

    /// Sends one request with its own signature.
    func respond(
        _ method: HTTPMethod, _ target: String, fields: HTTPFields, body: [UInt8]
    ) async throws -> HTTPResponse {
        try await client.call(try signed(method, target, fields, body), to: origin, settings)
    }

    /// Sends one request, for a caller that decides by the kind of failure what to do next.
    /// - Parameter answerLimit: The maximum length of the answer in bytes; nil for the limit of the client.
    /// - Throws: An error if the request cannot be signed.
    func attempt(
        _ method: HTTPMethod, _ target: String, answerLimit: Int?
    ) async throws -> Result<HTTPResponse, TransportError> {
        var request = try signed(method, target, [:], [])
        request.answerLimit = answerLimit
        do throws(TransportError) {
            return .success(try await client.send(request, to: origin, settings: settings, before: .now + .seconds(30)))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the error with which a command ends after a failed attempt.
    func failure(_ error: TransportError) -> ServerError { ServerError(error, at: origin) }

    private func signed(
        _ method: HTTPMethod, _ target: String, _ fields: HTTPFields, _ body: [UInt8]
    ) throws -> HTTPRequest {
        var request = HTTPRequest(method, target, authority: origin.authority, fields: fields, body: body)
        request.fields["authorization"] = try token()
        return request
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
