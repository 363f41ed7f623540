import MartletCore
import MartletHTTP

/// A request that was admitted to a hub.
struct HubCall: AdmittedCall {
    /// Without its body until that has been received.
    var request: HTTPRequest
    let match: RouteMatch
    let hub: Hub
    /// The name of the access key that the request is signed with.
    let keyName: String
    private let address: PublicAddress

    init(request: HTTPRequest, match: RouteMatch, hub: Hub, keyName: String, address: PublicAddress) {
        self.request = request
        self.match = match
        self.hub = hub
        self.keyName = keyName
        self.address = address
    }

    /// The access key, which the memory for the body is counted by.
    var account: HTTPBodyAccount { .caller(keyName, scope: hub.name) }

    /// The hosts that this server answers under, without port and in lower case.
    var hosts: [String] { address.hosts(of: request) }

    /// The absolute URL of something in the hub, without a query.
    func url(_ kind: String, _ id: String? = nil) -> String {
        let end = id.map { "/" + PercentEncoding.encode($0) } ?? ""
        return "\(address.origin(of: request))/\(hub.name)/\(kind)\(end)"
    }

    /// `?api-version=…` as the client sent it.
    var versionQuery: String { match.target.versionQuery }
}

extension HTTPTarget {
    /// `?api-version=…` as the client sent it. Any version is served; one that would not fit in a URL, or none, reads as
    /// the current one.
    var versionQuery: String {
        let sent = item("api-version")?.value ?? ""
        let isPlain = (1...32).contains(sent.utf8.count) && PercentEncoding.encode(sent) == sent
        return "?api-version=\(isPlain ? sent : "2020-06")"
    }
}
