import MartletHTTP

extension TransportError {
    /// The reason that reports of a push show. Clients can choose addresses that are restricted, and must not learn from
    /// a report whether something listens there or whether a name exists, so every failure has the same word.
    func reason(at addresses: TransportSettings.Addresses) -> String {
        switch kind {
        case .unresolved, .unreachable, .insecure, .disconnected, .reset, .timedOut:
            (addresses == .any ? kind : .unreachable).rawValue
        case .cancelled, .shutDown, .invalidRequest: kind.rawValue
        }
    }
}
