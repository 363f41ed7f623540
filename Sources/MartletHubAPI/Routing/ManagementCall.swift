import MartletCore
import MartletHTTP

/// A request that was admitted to the management of hubs.
struct ManagementCall: AdmittedCall {
    /// Without its body until that has been received.
    var request: HTTPRequest
    let match: RouteMatch
    /// The hub that the path names; nil where it names none, or one that does not exist.
    let hub: Hub?
    /// The name of the access key that the request is signed with.
    let keyName: String
    private let address: PublicAddress

    init(request: HTTPRequest, match: RouteMatch, hub: Hub?, keyName: String, address: PublicAddress) {
        self.request = request
        self.match = match
        self.hub = hub
        self.keyName = keyName
        self.address = address
    }

    /// The access key, which the memory for the body is counted by.
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

    /// What stands for the namespace in documents: the host as the client knows it.
    var namespace: String {
        TokenAudience.withoutPort(address.origin(of: request).split(separator: "/").last ?? "")
    }
}
