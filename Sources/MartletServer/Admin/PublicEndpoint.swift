import MartletHTTP
import MartletModel

/// The address at which clients reach the hubs of this server.
struct PublicEndpoint: Sendable {
    /// The host and port of the address, as `HOST:PORT`.
    let authority: String
    let isSecure: Bool
    /// The advice for the operator if clients may be unable to use the address; nil if no advice is necessary.
    let advice: String?

    /// The address in the form `https://HOST:PORT` or `http://HOST:PORT`.
    var origin: String { "\(isSecure ? "https" : "http")://\(authority)" }

    /// Chooses the address: the public URL if one is configured, otherwise the address of the TLS listener, otherwise
    /// the address of the listener without TLS, otherwise `https://localhost:8443`.
    ///
    /// For a listener on all addresses, the host is the name of this machine.
    /// - Parameter hostName: The name of this machine; nil if it has none.
    init(publicURL: HTTPOrigin?, tls: HTTPOrigin?, clear: HTTPOrigin?, hostName: String?) {
        guard let listener = tls ?? clear else {
            let origin = publicURL ?? HTTPOrigin(scheme: .https, host: "localhost", port: 8443)
            let advice = "No server runs on this data directory, so its address is not known. Give --public-url."
            self.init(origin, advice: publicURL == nil ? advice : nil)
            return
        }
        if let publicURL {
            self.init(publicURL, advice: nil)
        } else if Self.isWildcard(listener.host) {
            let name = hostName ?? "localhost"
            self.init(
                HTTPOrigin(scheme: listener.scheme, host: name, port: listener.port),
                advice: "Set --public-url: clients cannot use \(listener.host)."
                    + (hostName == nil ? "" : " This shows the name of the machine, which they may not know."))
        } else {
            self.init(listener, advice: nil)
        }
    }

    private init(_ origin: HTTPOrigin, advice: String?) {
        isSecure = origin.scheme == .https
        authority = origin.host.contains(":") ? "[\(origin.host)]:\(origin.port)" : "\(origin.host):\(origin.port)"
        self.advice = advice
    }

    /// Returns whether a host is `0.0.0.0`, `::` or another spelling of one of them.
    private static func isWildcard(_ host: String) -> Bool {
        !host.isEmpty && host.utf8.allSatisfy { "0.:".utf8.contains($0) }
    }
}

extension PublicEndpoint {
    /// The name of the header field that contains the advice.
    ///
    /// Commands print this advice together with the addresses.
    static let adviceField = "martlet-advice"

    /// Creates an answer that contains the address, with the advice for the operator.
    /// - Parameter advice: More advice on the subject of the answer; nil if there is none.
    func answer(_ status: HTTPStatus = .ok, json: JSON, advice: String? = nil) -> HTTPResponse {
        var response = advising(HTTPResponse(status, json: json))
        if let advice {
            let known = response.fields[Self.adviceField].map { "\($0) " } ?? ""
            response.fields[Self.adviceField] = known + advice
        }
        return response
    }

    /// Adds the advice for the operator to an answer that contains the address.
    @Sendable func advising(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        if let advice { response.fields[Self.adviceField] = advice }
        return response
    }

    /// The origin for links to the console. A port that is the default of its scheme is left out.
    var consoleOrigin: String { HTTPOrigin(origin)?.description ?? origin }
}
