/// Distinguishes sends to single persons or devices from sends to many devices.
public enum PersonalAudience {
    /// The prefixes of tags that name a person or a device.
    private static let beginnings = ["username:", "$userid:", "$installationid:", "$registrationid:"]

    /// Returns whether a tag expression, or a single tag, names a person or a device.
    ///
    /// One such tag in the expression is enough, even if the expression also matches other devices.
    public static func isNamed(in expression: String) -> Bool {
        let text = expression.lowercased()
        return beginnings.contains { text.contains($0) }
    }
}
