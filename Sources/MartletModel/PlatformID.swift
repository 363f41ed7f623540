/// The name of a push platform, such as `apns`. An open set: anyone who adds a platform adds a name.
public struct PlatformID: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Lower case.
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue.lowercased()
    }

    public var description: String { rawValue }

    public static func < (left: PlatformID, right: PlatformID) -> Bool { left.rawValue < right.rawValue }
}
