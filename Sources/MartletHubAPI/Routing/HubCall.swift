import MartletCore
import MartletHTTP

/// An admitted request to a hub.
struct HubCall: AdmittedCall {
    /// The request, without its body until the body has been received.
    var request: HTTPRequest
    let match: RouteMatch
    let hub: Hub
    /// The name of the access key that signed the request.
    let keyName: String
    private let address: PublicAddress

    init(request: HTTPRequest, match: RouteMatch, hub: Hub, keyName: String, address: PublicAddress) {
        self.request = request
        self.match = match
        self.hub = hub
        self.keyName = keyName
        self.address = address
    }

    /// The account of the memory for the body: the access key.
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
    /// `?api-version=…` as the client sent it. Any version is accepted. A missing version, or one that does not fit in
    /// a URL, becomes the current one.
    var versionQuery: String {
        let sent = item("api-version")?.value ?? ""
        let isPlain = (1...32).contains(sent.utf8.count) && PercentEncoding.encode(sent) == sent
        return "?api-version=\(isPlain ? sent : "2020-06")"
    }
}
