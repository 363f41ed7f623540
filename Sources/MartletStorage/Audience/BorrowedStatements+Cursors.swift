import MartletCore
import MartletModel

extension BorrowedStatements {
    /// Returns a cursor over the registrations that match a plan.
    /// - Parameter horizon: Limits the number of searches for members; nil for no limit.
    mutating func cursor(
        for plan: AudiencePlan, in scope: TagScope, horizon: ReadingHorizon? = nil
    ) throws(StorageError) -> AudienceCursor {
        switch plan {
        case .everyone: return try members(TagTable.everyone, scope, horizon)
        case .members(let tag): return try members(tag.folded, scope, horizon)
        case .union(let operands): return Self.union(try cursors(for: operands, scope, horizon))
        case .join(let including, let excluding):
            let all = Self.intersection(try cursors(for: including, scope, horizon))
            guard !excluding.isEmpty else { return all }
            return DifferenceCursor(all, without: Self.union(try cursors(for: excluding, scope, horizon)))
        }
    }

    private mutating func cursors(
        for plans: [AudiencePlan], _ scope: TagScope, _ horizon: ReadingHorizon?
    ) throws(StorageError) -> [AudienceCursor] {
        var cursors: [AudienceCursor] = []
        for plan in plans { cursors.append(try cursor(for: plan, in: scope, horizon: horizon)) }
        return cursors
    }

    private static func union(_ cursors: [AudienceCursor]) -> AudienceCursor {
        cursors.dropFirst().reduce(cursors[0]) { UnionCursor($0, $1) }
    }

    private static func intersection(_ cursors: [AudienceCursor]) -> AudienceCursor {
        cursors.dropFirst().reduce(cursors[0]) { IntersectionCursor($0, $1) }
    }

    /// Returns a cursor over the members of a tag; an empty cursor if no registration has the tag.
    private mutating func members(
        _ name: String, _ scope: TagScope, _ horizon: ReadingHorizon?
    ) throws(StorageError) -> AudienceCursor {
        guard let tag = try TagTable(connection).id(of: name, in: scope) else { return AudienceCursor() }
        return MemberCursor(try take(MemberCursor.sql), tag: tag, horizon: horizon)
    }
}
