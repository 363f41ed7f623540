public import MartletModel

/// The operations that the holder of an access key may perform in a hub.
public struct AccessRights: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The right to register devices.
    public static let listen = AccessRights(rawValue: 1)
    /// The right to send notifications.
    public static let send = AccessRights(rawValue: 2)
    /// The right to all operations, which implies the other two rights.
    public static let manage = AccessRights(rawValue: 4)

    public static let all: AccessRights = [.listen, .send, .manage]

    /// Returns true if these rights allow an operation that needs `right`.
    public func allow(_ right: AccessRights) -> Bool {
        contains(.manage) || isSuperset(of: right)
    }
}

/// A named pair of keys with access rights. Both keys are valid, so that one can be replaced while the other is in use.
public struct AccessRule: Hashable, Sendable, CustomStringConvertible {
    public let name: String
    public var rights: AccessRights
    /// The primary key, an opaque text. Its UTF-8 bytes are the key with which tokens are signed.
    public var primaryKey: String
    public var secondaryKey: String
    public var createdAt: Timestamp
    public var modifiedAt: Timestamp

    public init(
        name: String, rights: AccessRights, primaryKey: String, secondaryKey: String, createdAt: Timestamp,
        modifiedAt: Timestamp
    ) {
        self.name = name
        self.rights = rights
        self.primaryKey = primaryKey
        self.secondaryKey = secondaryKey
        self.createdAt = createdAt
        self.modifiedAt = modifiedAt
    }

    /// The name of the rule, without its keys.
    public var description: String { "access rule \(name)" }

    /// The name of one of the two rules with which every hub is created; it has the right Listen.
    public static let defaultListenName = "DefaultListenSharedAccessSignature"
    /// The name of one of the two rules with which every hub is created; it has all rights.
    public static let defaultFullName = "DefaultFullSharedAccessSignature"
    /// The name of the rule with which every server is created; it has all rights over all hubs.
    public static let rootName = "RootManageSharedAccessKey"

    /// Identifies one of a rule's two keys.
    public enum KeyKind: String, CaseIterable, Sendable {
        case primary, secondary
    }

    public subscript(key: KeyKind) -> String {
        get {
            switch key {
            case .primary: primaryKey
            case .secondary: secondaryKey
            }
        }
        set {
            switch key {
            case .primary: primaryKey = newValue
            case .secondary: secondaryKey = newValue
            }
        }
    }
}

extension AccessRule {
    /// The maximum length in characters of a name and of a key.
    public static let lengthLimit = 256

    /// The reason, as a sentence, why the rule is not valid; nil if it is valid.
    var fault: String? {
        guard Self.isUsable(name) else {
            return "The name of an access rule has 1 to \(Self.lengthLimit) printable ASCII characters without spaces "
                + "and semicolons."
        }
        guard !rights.isEmpty else { return "The access rule '\(name)' has no rights." }
        guard Self.isUsable(primaryKey), Self.isUsable(secondaryKey) else {
            return
                "The keys of the access rule '\(name)' must have 1 to \(Self.lengthLimit) printable ASCII characters "
                + "without spaces and semicolons."
        }
        return nil
    }

    /// Returns true if a text is not empty, is not too long, and can be part of a connection string without being
    /// escaped.
    private static func isUsable(_ text: String) -> Bool {
        (1...lengthLimit).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ";") }
    }
}

extension AccessRule {
    /// Creates a rule with two new keys.
    public init(name: String, rights: AccessRights, at now: Timestamp) {
        self.init(
            name: name, rights: rights, primaryKey: Self.newKey(), secondaryKey: Self.newKey(), createdAt: now,
            modifiedAt: now)
    }

    /// Returns a new key in the form of Azure's access keys: 258 random bits as 43 base64 digits and an equals sign.
    public static func newKey() -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<43).map { _ in digits[Int.random(in: 0..<64, using: &random)] }
        return String(decoding: bytes, as: UTF8.self) + "="
    }
}
