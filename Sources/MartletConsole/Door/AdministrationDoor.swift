import MartletCore
import MartletHTTP
import MartletModel

/// Passes requests of the console to the administration API, which also serves the admin socket.
struct AdministrationDoor: Sendable {
    let administration: any HTTPHandler

    /// The path prefix of the console's API.
    ///
    /// `pass` removes it, because the paths of the administration API do not have this prefix.
    static let prefix = "/console/api"

    /// The names of the header fields that `pass` leaves out, because they concern only the browser, its connection or
    /// the console itself.
    private static let keptBack: Set<String> = [
        "authorization", "connection", "content-length", "cookie", "expect", "host", "origin", "referer", "te",
        "transfer-encoding", "upgrade", RequestSource.field, everybody,
    ]
    /// The header field that confirms that a send without tags is meant for all devices.
    static let everybody = "martlet-everybody"

    /// Passes a request on to the administration API.
    /// - Parameter target: The target in the administration API; nil means the request's own target without the
    ///   console's prefix.
    func pass(_ call: ConsoleCall, target: String? = nil) async throws(ConsoleRefusal) -> HTTPResponse {
        var fields = HTTPFields()
        for field in call.request.fields
        where !Self.keptBack.contains(field.name) && !field.name.hasPrefix("sec-")
            && !field.name.hasPrefix("x-forwarded")
        {
            fields.append(field)
        }
        // JSON is requested, because the page shows the sentences of refusals and the outcomes of test sends. In XML,
        // these outcomes would contain handles.
        fields["martlet-answer"] = "json"
        let target = target ?? String(call.request.target.dropFirst(Self.prefix.count))
        return try await perform(
            call.request.method, target, fields: fields, body: call.request.body, for: call.entry?.name)
    }

    /// Reads a JSON document from the administration API.
    /// - Returns: nil if the administration API refuses.
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
            // If the administration's route takes no body, the body that the page has sent is left out.
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
    /// Returns the answer with its JSON body changed.
    ///
    /// An answer that is not a success, or has no JSON body, is returned unchanged.
    func changing(_ change: (JSON) -> JSON) -> HTTPResponse {
        guard status.isSuccess, case .bytes(let bytes) = body, let json = try? JSON(parsing: bytes) else { return self }
        var changed = self
        changed.body = .bytes(change(json).bytes)
        return changed
    }
}
