public import MartletModel

extension Notification.Target {
    /// Returns whether a registration, in its current state, is among the targets of a notification.
    /// - Parameter platform: The platform of native content, or the platform on which a composed message is rendered;
    ///   nil for template content.
    public func includes(_ registration: Registration, platform: PlatformID?) -> Bool {
        guard (registration.template == nil) == (platform != nil),
            platform ?? registration.platform == registration.platform
        else { return false }
        return switch self {
        case .audience(let expression): expression?.matches(Set(registration.tags)) ?? true
        case .direct(let handles): handles.contains(registration.handle)
        }
    }
}
