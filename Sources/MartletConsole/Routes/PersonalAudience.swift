/// Distinguishes sends to single persons from campaigns.
public enum PersonalAudience {
    /// The prefixes of tags that name a person or a device.
    private static let beginnings = ["username:", "$userid:", "$installationid:", "$registrationid:"]

    /// Whether an expression, or a tag, names a person or a device. It is enough that one part of the expression does,
    /// even if other parts match all devices.
    public static func isNamed(in expression: String) -> Bool {
        let text = expression.lowercased()
        return beginnings.contains { text.contains($0) }
    }
}
