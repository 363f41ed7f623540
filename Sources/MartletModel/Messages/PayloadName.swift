/// The names of members in the payloads that the server makes and the SDK reads. The data of a composed message cannot
/// use these names. Otherwise a sender could choose any id and make a device fetch it with the rights of the device's
/// user.
public enum PayloadName: String, CaseIterable, Sendable {
    // Names of members for content that is stored at the server or encrypted.
    case richID = "richId"
    case richMessage
    case richType
    case secureID = "secureId"
    case secureMessage
    case encrypted
    case encryptedID = "encryptedId"
    case notificationID = "notificationId"
    // Names of members for the parts of a composed message.
    case title
    case subtitle
    case text
    case message
    case type
    case link
    case links
    case picture
    case sound
    case badge
    case actions
    case action
    // Names of members that contain the members above.
    case aps
    case data

    private static let folded = Set(allCases.map { $0.rawValue.lowercased() })

    /// Returns true if the name is one of these names, ignoring case.
    public static func includes(_ name: String) -> Bool { folded.contains(name.lowercased()) }
}
