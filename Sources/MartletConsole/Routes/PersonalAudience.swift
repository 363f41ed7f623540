/// Tells sends to single persons from campaigns.
public enum PersonalAudience {
    /// The beginnings of tags that mean a person or a device.
    private static let beginnings = ["username:", "$userid:", "$installationid:", "$registrationid:"]

    /// Whether an expression, or a tag, names a person or a device. An expression that does so anywhere counts, also if
    /// it names all others besides.
    public static func isNamed(in expression: String) -> Bool {
        let text = expression.lowercased()
        return beginnings.contains { text.contains($0) }
    }
}
