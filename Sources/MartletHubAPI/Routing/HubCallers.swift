/// The callers of the hub's API.
public enum HubCallers: Sendable {
    /// Callers that sign with an access key; the key's rights apply.
    case signed
    /// Administrators only: requests are not signed and have all rights. The handler must be reachable only by
    /// administrators.
    case administrator
}
