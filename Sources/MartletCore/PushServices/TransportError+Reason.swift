import MartletHTTP

extension TransportError {
    /// Returns the reason that reports of a push show. Clients can choose restricted addresses, and must not learn from
    /// a report whether a server listens at an address or whether a name exists. Therefore all failures at restricted
    /// addresses have the same reason.
    func reason(at addresses: TransportSettings.Addresses) -> String {
        switch kind {
        case .unresolved, .unreachable, .insecure, .disconnected, .misbehaved, .reset, .timedOut:
            (addresses == .any ? kind : .unreachable).rawValue
        case .cancelled, .shutDown, .invalidRequest: kind.rawValue
        }
    }
}
