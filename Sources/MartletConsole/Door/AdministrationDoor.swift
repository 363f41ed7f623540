import MartletCore
import MartletHTTP
import MartletModel

/// Passes requests of the console to the administration API, which also serves the admin socket.
struct AdministrationDoor: Sendable {
    let administration: any HTTPHandler

    /// The path of the console's API, which the administration API does not have.
    static let prefix = "/console/api"

    /// Header fields about the caller and the connection, which are not passed on.
    private static let keptBack: Set<String> = [
        "authorization", "connection", "content-length", "cookie", "expect", "host", "origin", "referer", "te",
        "transfer-encoding", "upgrade", RequestSource.field, everybody,
    ]
    /// The field that confirms that a send without tags is meant for all devices.
    static let everybody = "martlet-everybody"

    /// Passes a request on, without the console's prefix.
    /// - Parameter target: The target in the administration API; nil for that of the request without its prefix.
    func pass(_ call: ConsoleCall, target: String? = nil) async throws(ConsoleRefusal) -> HTTPResponse {
        var fields = HTTPFields()
        for field in call.request.fields
        where !Self.keptBack.contains(field.name) && !field.name.hasPrefix("sec-")
            && !field.name.hasPrefix("x-forwarded")
        {
            fields.append(field)
        }
        let target = target ?? String(call.request.target.dropFirst(Self.prefix.count))
        return try await perform(
            call.request.method, target, fields: fields, body: call.request.body, for: call.entry?.name)
    }

    /// Reads a JSON document from the administration API.
    /// - Returns: Nil if the answer is a refusal.
    func document(_ target: String) async -> JSON? {
        guard let response = try? await perform(.get, target), response.status.isSuccess else { return nil }
        return try? JSON(parsing: response.bytes)
    }

    func perform(
        _ method: HTTPMethod, _ target: String, fields: HTTPFields = [:], body: [UInt8] = [],
        for operatorName: String? = nil
    ) async throws(ConsoleRefusal) -> HTTPResponse {
        var request = HTTPRequest(method, target, authority: "console", fields: fields)
        request.operatorName = operatorName
        let route = administration.route(for: request)
        switch route.body {
        case .ignored: break
        case .collected:
            // A body is not passed on to a route without a body, even if the page has sent one.
            if route.bodyLimit > 0 {
                guard body.count <= route.bodyLimit else { throw .tooLarge }
                request.body = body
            }
        case .streamed: request.body = body
        }
        return await route.respond(request)
    }
}

extension HTTPResponse {
    /// The answer with its JSON body changed, if it is a success in JSON.
    func changing(_ change: (JSON) -> JSON) -> HTTPResponse {
        guard status.isSuccess, case .bytes(let bytes) = body, let json = try? JSON(parsing: bytes) else { return self }
        var changed = self
        changed.body = .bytes(change(json).bytes)
        return changed
    }
}
