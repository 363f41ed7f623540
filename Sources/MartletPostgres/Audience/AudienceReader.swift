import MartletCore
import MartletModel

/// Reads members of audiences, with the form of `AudienceStatement` that suits the tag expression.
struct AudienceReader {
    let storage: PostgresStorage

    /// The part of an audience that one call reads.
    struct Range: Sendable {
        var shard: Shard
        var scope: Scope
        var expression: TagExpression?
        var after = AudienceMember.none
        var throughChannel = Int64.max
        var throughRegistration = Int64.max
        var now: Timestamp
        var limit: Int
        var withHandles = true
    }

    func rows(_ range: Range) async throws(StorageError) -> MemberRows {
        let tags = Self.tags(of: range.expression)
        let ids = try await ids(of: tags, range)
        if let (anchor, names) = AudienceAnchor.tags(of: range.expression) {
            let anchors = Array(Set(names.map { ids[$0] ?? 0 }))
            if !storage.dense.contains(anchors) {
                let statement = AudienceStatement(range.expression, .sparse(anchor), withHandles: range.withHandles)
                let rows = try await read(statement, range, ids) { $0.add(anchors) }
                if rows.found <= AudienceStatement.sparseLimit { return rows }
                storage.dense.insert(anchors)
            }
        }
        if let maker = storage.packMaker,
            let rows = try await PackReader(storage: storage, maker: maker, range: range, numbers: ids).rows()
        {
            return rows
        }
        return try await read(
            AudienceStatement(range.expression, .dense, withHandles: range.withHandles), range, ids)
    }

    func rows(_ range: Range, amongChannels channels: [Int64]) async throws(StorageError) -> MemberRows {
        let statement = AudienceStatement(range.expression, .listedChannels, withHandles: range.withHandles)
        let ids = try await ids(of: Self.tags(of: range.expression), range)
        return try await read(statement, range, ids) { $0.add(Array(Set(channels))) }
    }

    func rows(_ range: Range, among members: Set<AudienceMember>) async throws(StorageError) -> MemberRows {
        let statement = AudienceStatement(range.expression, .listedMembers, withHandles: range.withHandles)
        let ids = try await ids(of: Self.tags(of: range.expression), range)
        let members = Array(members)
        return try await read(statement, range, ids) {
            $0.add(members.map(\.channel.rawValue))
            $0.add(members.map(\.registration))
        }
    }

    private func read(
        _ statement: AudienceStatement, _ range: Range, _ ids: [Tag: Int64],
        _ addListed: (inout Parameters) -> Void = { _ in }
    ) async throws(StorageError) -> MemberRows {
        let rows = try await storage.readPage(Self.batch(statement, range, ids, addListed))[0]
        return MemberRows(rows[0])
    }

    /// The statement with its parameters.
    /// - Parameters:
    ///   - ids: The numbers of the tags. A tag that is missing has no registrations.
    ///   - addListed: Adds the parameters of the statement's form.
    static func batch(
        _ statement: AudienceStatement, _ range: Range, _ ids: [Tag: Int64],
        _ addListed: (inout Parameters) -> Void = { _ in }
    ) -> Batch {
        Batch(statement.statement) {
            $0.add(range.shard.number)
            $0.add(range.scope.number)
            $0.add(range.after.channel.rawValue)
            $0.add(range.after.registration)
            $0.add(range.throughChannel)
            $0.add(range.throughRegistration)
            $0.add(range.now)
            $0.add(Int64(range.limit))
            addListed(&$0)
            for tag in statement.tags { $0.add(ids[tag] ?? 0) }
        }
    }

    /// Returns the numbers of tags. A tag that no registration has ever had gets 0, which is the number of no tag.
    private func ids(of tags: Set<Tag>, _ range: Range) async throws(StorageError) -> [Tag: Int64] {
        let keys = tags.map { TagKey(scope: range.scope, shard: range.shard, name: $0.folded) }
        let numbers = try await storage.numbers(of: Set(keys), in: range.shard)
        return Dictionary(zip(tags, keys).map { ($0, numbers[$1] ?? 0) }) { first, _ in first }
    }

    static func tags(of expression: TagExpression?) -> Set<Tag> {
        switch expression {
        case nil: []
        case .tag(let tag): [tag]
        case .not(let operand): tags(of: operand)
        case .and(let operands), .or(let operands):
            operands.reduce(into: []) { $0.formUnion(tags(of: $1)) }
        }
    }
}
