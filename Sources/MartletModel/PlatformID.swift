/// The name of a push platform, such as `apns`. The list of platforms is not fixed, so any name is possible.
public struct PlatformID: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The name in lower case.
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue.lowercased()
    }

    public var description: String { rawValue }

    public static func < (left: PlatformID, right: PlatformID) -> Bool { left.rawValue < right.rawValue }
}
