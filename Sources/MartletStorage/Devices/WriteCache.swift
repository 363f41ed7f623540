import MartletCore

/// Caches look-ups for the changes of one call, because thousands of changes in one call are about the same hub and
/// share most of their tags. The cache is released at the end of the call, and so never outlives the call's
/// transaction.
final class WriteCache {
    /// True if the hub of the call is known to exist.
    var hubExists = false
    private var tags: [TagScope: [String: Int64]] = [:]
    private var count = 0

    /// The maximum number of cached tags.
    private static let limit = 10_000

    func tag(_ name: String, in scope: TagScope) -> Int64? {
        tags[scope]?[name]
    }

    func setTag(_ name: String, in scope: TagScope, to id: Int64) {
        if count >= Self.limit {
            tags = [:]
            count = 0
        }
        tags[scope, default: [:]][name] = id
        count += 1
    }

    func forgetTag(_ name: String, in scope: TagScope) {
        tags[scope]?[name] = nil
    }
}
