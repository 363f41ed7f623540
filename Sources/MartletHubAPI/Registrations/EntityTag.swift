import MartletCore

/// The version of a registration as `ETag` and `If-Match` write it (NotificationHubs.md, section 4.6).
enum EntityTag {
    /// `W/"1"`.
    static func text(_ version: Int64) -> String { "W/\"\(version)\"" }

    /// The condition of `If-Match`: `*`, `"*"`, `W/"1"`, `"1"`, `1`, or nothing.
    ///
    /// A tag that the hub did not issue stands for a version that never exists.
    static func condition(_ header: String?) -> WriteCondition {
        guard var text = header.map({ $0[...] }) else { return .none }
        if text.hasPrefix("W/") { text = text.dropFirst(2) }
        if text.count >= 2, text.first == "\"", text.last == "\"" { text = text.dropFirst().dropLast() }
        if text == "*" { return .exists }
        return .version(Int64(text) ?? -1)
    }
}
