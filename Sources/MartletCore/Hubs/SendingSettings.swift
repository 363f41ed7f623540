import MartletModel

/// The settings of a hub for its sends: the testers, and the app's name and icon in previews.
public struct SendingSettings: Hashable, Sendable {
    /// The tag expression that selects the devices of testers, as it was written; nil if there are no testers.
    public var testers: String?
    /// The name of the app, for previews.
    public var appName: String?
    /// The https address of the app's icon, for previews.
    public var appIcon: String?

    public init(testers: String? = nil, appName: String? = nil, appIcon: String? = nil) {
        self.testers = testers
        self.appName = appName
        self.appIcon = appIcon
    }

    public static let appNameLimit = 64
    public static let appIconLimit = 2048

    func check() throws(HubDirectoryError) {
        if let testers {
            do throws(TagExpressionError) {
                _ = try TagExpression(testers)
            } catch {
                throw .invalid("The testers are not a tag expression: \(error.description)")
            }
        }
        if let appName, !(1...Self.appNameLimit).contains(appName.count) || appName.contains(where: \.isNewline) {
            throw .invalid("The name of the app has 1 to \(Self.appNameLimit) characters, in one line.")
        }
        guard let appIcon else { return }
        let isVisible = appIcon.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard appIcon.hasPrefix("https://"), appIcon.utf8.count > 8, appIcon.utf8.count <= Self.appIconLimit, isVisible
        else {
            throw .invalid("The icon of the app is an https address of at most \(Self.appIconLimit) bytes.")
        }
    }
}
