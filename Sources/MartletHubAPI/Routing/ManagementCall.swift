import MartletCore
import MartletHTTP

/// An admitted request to the management of hubs.
struct ManagementCall: AdmittedCall {
    /// The request, without its body until the body has been received.
    var request: HTTPRequest
    let match: RouteMatch
    /// The hub that the path names; nil if the path names none, or one that does not exist.
    let hub: Hub?
    /// The name of the access key that signed the request.
    let keyName: String
    private let address: PublicAddress

    init(request: HTTPRequest, match: RouteMatch, hub: Hub?, keyName: String, address: PublicAddress) {
        self.request = request
        self.match = match
        self.hub = hub
        self.keyName = keyName
        self.address = address
    }

    /// The account of the memory for the body: the access key.
    var account: HTTPBodyAccount { .caller(keyName, scope: hub?.name ?? "") }

    /// The hub that the request is for.
    func existingHub() throws(HubAPIError) -> Hub {
        guard let hub else { throw .hubNotFound }
        return hub
    }

    /// The absolute URL of a path.
    func url(_ path: String) -> String {
        "\(address.origin(of: request))/\(path)\(match.target.versionQuery)"
    }

    /// The namespace in documents: the host as the client knows it.
    var namespace: String {
        TokenAudience.withoutPort(address.origin(of: request).split(separator: "/").last ?? "")
    }
}
