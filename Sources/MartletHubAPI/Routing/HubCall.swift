import MartletCore
import MartletHTTP

/// An admitted request to a hub.
struct HubCall: AdmittedCall {
    /// The request. At first, this is only the request's head; the complete request replaces it before the route
    /// answers.
    var request: HTTPRequest
    let match: RouteMatch
    let hub: Hub
    /// The name of the access key that signed the request; `administrator` for an unsigned request of an administrator.
    let keyName: String
    /// The author of a notification that this request sends.
    let author: SendAuthor
    private let address: PublicAddress

    init(
        request: HTTPRequest, match: RouteMatch, hub: Hub, keyName: String, author: SendAuthor, address: PublicAddress
    ) {
        self.author = author
        self.request = request
        self.match = match
        self.hub = hub
        self.keyName = keyName
        self.address = address
    }

    /// The account to which the memory for the body is charged: that of the access key.
    var account: HTTPBodyAccount { .caller(keyName, scope: hub.name) }

    /// The hosts under which this server can be reached, in lower case without port.
    var hosts: [String] { address.hosts(of: request) }

    /// Returns the absolute URL of a resource in the hub, without a query.
    func url(_ kind: String, _ id: String? = nil) -> String {
        // Sums, because interpolation costs five times as much.
        let url = address.origin(of: request) + "/" + hub.name + "/" + kind
        return id.map { url + "/" + PercentEncoding.encode($0) } ?? url
    }

    /// The query `?api-version=…` as sent by the client.
    var versionQuery: String { match.target.versionQuery }
}

extension HTTPTarget {
    /// The query `?api-version=…` as sent by the client. Any version is accepted. The current version is used if the
    /// client sent no version, or one that cannot be part of a URL.
    var versionQuery: String {
        let sent = item("api-version")?.value ?? ""
        let isPlain = (1...32).contains(sent.utf8.count) && PercentEncoding.encode(sent) == sent
        return "?api-version=\(isPlain ? sent : "2020-06")"
    }
}
