import MartletCore
import MartletHTTP

/// An admitted request to the management of hubs.
struct ManagementCall: AdmittedCall {
    /// The request. At first, this is only the request's head; the complete request replaces it before the route
    /// answers.
    var request: HTTPRequest
    let match: RouteMatch
    /// The hub that the path names; nil if the path names no hub, or the hub does not exist.
    let hub: Hub?
    /// The name of the access key that signed the request; `administrator` for an unsigned request of an administrator.
    let keyName: String
    private let address: PublicAddress

    init(request: HTTPRequest, match: RouteMatch, hub: Hub?, keyName: String, address: PublicAddress) {
        self.request = request
        self.match = match
        self.hub = hub
        self.keyName = keyName
        self.address = address
    }

    /// The account to which the memory for the body is charged: that of the access key.
    var account: HTTPBodyAccount { .caller(keyName, scope: hub?.name ?? "") }

    /// Returns the hub that the path names.
    /// - Throws: `HubAPIError.hubNotFound` if there is none.
    func existingHub() throws(HubAPIError) -> Hub {
        guard let hub else { throw .hubNotFound }
        return hub
    }

    /// Returns the absolute URL of a path on this server, with the API version of this request.
    func url(_ path: String) -> String {
        "\(address.origin(of: request))/\(path)\(match.target.versionQuery)"
    }

    /// The namespace as written in documents: the host under which the client knows the server.
    var namespace: String {
        TokenAudience.withoutPort(address.origin(of: request).split(separator: "/").last ?? "")
    }
}
