/// The rules for hub names.
public enum HubName {
    /// The names that no hub can have, because the server uses them as the first path segment of other routes.
    public static let reserved: Set<String> = [
        "api", "health", "metrics", "console", "admin", "simulator", "$resources", "$containers",
        "$openapi.json",
    ]

    public static func isValid(_ name: String) -> Bool {
        guard (1...260).contains(name.utf8.count), let first = name.utf8.first else { return false }
        return isLetterOrDigit(first) && !reserved.contains(name.lowercased())
            && name.utf8.allSatisfy { isLetterOrDigit($0) || "._-".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
