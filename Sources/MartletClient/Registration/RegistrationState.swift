/// The state of this device's registration.
public enum RegistrationState: Hashable, Sendable {
    /// The device is not registered, and no registration is pending.
    case unregistered
    /// A registration is due: ask the system for the device token and pass it to `register`.
    case tokenNeeded
    /// A registration or its removal is in progress.
    case underWay
    /// The request failed temporarily, for this reason, and is retried automatically.
    case waiting(PushClientError)
    /// The registration is waiting for a user to log in.
    case logInNeeded
    /// The server refused the request permanently, for this reason. Repeating the same request will not help.
    case refused(PushClientError)
    /// The device is registered.
    case registered
}
