public import MartletModel

/// The reasons why a hub was not created or changed.
public enum HubDirectoryError: Error, Sendable, CustomStringConvertible {
    case badName(String)
    case exists(String)
    case notFound(String)
    /// There is no access rule with this name.
    case ruleNotFound(String)
    case unknownPlatform(PlatformID)
    case badCredential(PushServiceError)
    /// The settings are wrong; the text explains how.
    case invalid(String)
    case storage(StorageError)

    public var description: String {
        switch self {
        case .badName(let name):
            "'\(name.prefix(80))' cannot name a hub: use 1 to 260 letters, digits, '.', '_' and '-', beginning with a "
                + "letter or digit, and none of the reserved names \(HubName.reserved.sorted().joined(separator: ", "))."
        case .exists(let name): "A hub named '\(name)' exists already."
        case .notFound(let name): "There is no hub named '\(name.prefix(80))'."
        case .ruleNotFound(let name): "There is no access rule named '\(name.prefix(80))'."
        case .unknownPlatform(let platform): "There is no push platform named '\(platform)'."
        case .badCredential(let error): "The credential cannot be used: \(error)"
        case .invalid(let sentence): sentence
        case .storage(let error): "The hub could not be stored: \(error)"
        }
    }
}
