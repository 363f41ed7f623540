/// How it is with the registration of this device.
public enum RegistrationState: Hashable, Sendable {
    /// The device is not registered, and that is as it should be.
    case unregistered
    /// A registration is due: ask the system for the device token and pass it to `register`.
    case tokenNeeded
    /// It is being registered or unregistered.
    case underWay
    /// That failed for now, for this reason, and is tried again by itself.
    case waiting(PushClientError)
    /// It is done as soon as a user has logged in.
    case logInNeeded
    /// The server refused for good, for this reason; it is no use to try again with the same.
    case refused(PushClientError)
    /// The device is registered.
    case registered
}
