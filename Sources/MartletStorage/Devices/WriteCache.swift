import MartletCore

/// What the changes of one call have found out so far: thousands that come together share their hub and most of their
/// tags. Lives no longer than the call, and so never outlives its transaction.
final class WriteCache {
    /// That the hub of the call exists.
    var hubExists = false
    private var tags: [TagScope: [String: Int64]] = [:]
    private var count = 0

    /// The most tags that are remembered.
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
