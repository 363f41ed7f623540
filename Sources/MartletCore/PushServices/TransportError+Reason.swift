import MartletHTTP

extension TransportError {
    /// The reason that reports of a push show. Clients can choose restricted addresses, and must not learn from a
    /// report whether a server listens there or whether a name exists. So all failures at such addresses have the same
    /// reason.
    func reason(at addresses: TransportSettings.Addresses) -> String {
        switch kind {
        case .unresolved, .unreachable, .insecure, .disconnected, .reset, .timedOut:
            (addresses == .any ? kind : .unreachable).rawValue
        case .cancelled, .shutDown, .invalidRequest: kind.rawValue
        }
    }
}
