/// Who may call the hub's API.
public enum HubCallers: Sendable {
    /// Callers that sign with an access key, as far as the key's rights go.
    case signed
    /// Anyone who reaches the handler, which only an administrator may: nothing is signed, and everything is allowed.
    case administrator
}
