import MartletCore

/// The version of a registration, as written in `ETag` and `If-Match` (NotificationHubs.md, section 4.6).
enum EntityTag {
    /// Returns the entity tag of a version, such as `W/"1"`.
    static func text(_ version: Int64) -> String { "W/\"\(version)\"" }

    /// Returns the condition of an `If-Match` header: `*`, `"*"`, `W/"1"`, `"1"`, `1`, or no header.
    ///
    /// A tag that the hub did not issue is converted to a version that never exists.
    static func condition(_ header: String?) -> WriteCondition {
        guard var text = header.map({ $0[...] }) else { return .none }
        if text.hasPrefix("W/") { text = text.dropFirst(2) }
        if text.count >= 2, text.first == "\"", text.last == "\"" { text = text.dropFirst().dropLast() }
        if text == "*" { return .exists }
        return .version(Int64(text) ?? -1)
    }
}
