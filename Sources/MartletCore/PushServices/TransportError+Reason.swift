import MartletHTTP

extension TransportError {
    /// Returns the reason to show in reports about a push. If `addresses` is not `any`, a client may have chosen the
    /// address. The client must not learn from a report whether a server listens at an address, or whether a name
    /// exists. Therefore all failures to get an answer have the same reason in this case.
    func reason(at addresses: TransportSettings.Addresses) -> String {
        switch kind {
        case .unresolved, .unreachable, .insecure, .disconnected, .misbehaved, .reset, .timedOut:
            (addresses == .any ? kind : .unreachable).rawValue
        case .cancelled, .shutDown, .invalidRequest: kind.rawValue
        }
    }
}
