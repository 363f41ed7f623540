import MartletCore
import MartletModel

// Many new registrations become members of their tags together. Each tag is looked up once, and the new rows are
// inserted in the order of the primary key, so that most rows go to the database page that was used for the row before.
extension TagTable {
    /// Inserts new registrations as members of their tags.
    func insert(_ registrations: [StoredRegistration]) throws(StorageError) {
        var members: [TagMember] = []
        var rest = registrations[...]
        while let scope = rest.first?.index.scope {
            let group = rest.prefix { $0.index.scope == scope }
            members += try self.members(group, in: scope)
            rest.removeFirst(group.count)
        }
        members.sort()
        var last: TagMember?
        members.removeAll { member in
            defer { last = member }
            return member == last
        }
        // With `OR ROLLBACK`, SQLite makes no copies of the pages that the statement changes. With `OR ABORT`, which is
        // the default, it would.
        try connection.insert(
            "INSERT OR ROLLBACK INTO tag_members (tag, channel, registration)", columns: 3, members
        ) { member, statement, first throws(StorageError) in
            try statement.bind(member.tag, at: first)
            try statement.bind(member.channel, at: first + 1)
            try statement.bind(member.registration, at: first + 2)
        }
    }

    private func members(
        _ registrations: ArraySlice<StoredRegistration>, in scope: TagScope
    ) throws(StorageError) -> [TagMember] {
        var names = [Self.everyone]
        var places: [String: Int] = [:]
        // The tag of a member is its place in `names`, until the ids are known.
        var members: [TagMember] = []
        for registration in registrations {
            let (channel, sequence) = (registration.index.channel.rawValue, registration.sequence)
            members.append(TagMember(tag: 0, channel: channel, registration: sequence))
            for tag in registration.registration.tags {
                let place = places[tag.folded] ?? names.count
                if place == names.count {
                    places[tag.folded] = place
                    names.append(tag.folded)
                }
                members.append(TagMember(tag: Int64(place), channel: channel, registration: sequence))
            }
        }
        let ids = try ids(of: names, in: scope)
        for index in members.indices { members[index].tag = ids[Int(members[index].tag)] }
        return members
    }

    /// Returns the ids of the tags with the given names, in the order of `names`. Makes the tags that are missing.
    private func ids(of names: [String], in scope: TagScope) throws(StorageError) -> [Int64] {
        var ids = try storedIDs(of: names, in: scope)
        // No tag has the id 0.
        let missing = names.indices.filter { ids[$0] == 0 }.sorted { names[$0] < names[$1] }
        guard !missing.isEmpty else { return ids }
        let first = try takeNumbers(missing.count) - Int64(missing.count) + 1
        for (offset, index) in missing.enumerated() { ids[index] = first + Int64(offset) }
        try connection.insert(Self.insertion, columns: 5, missing) { index, statement, first throws(StorageError) in
            try statement.bind(scope.hub.rawValue, at: first)
            try statement.bind(names[index], at: first + 1)
            try statement.bind(scope.kind == .template, at: first + 2)
            try statement.bind(scope.platform.rawValue, at: first + 3)
            try statement.bind(ids[index], at: first + 4)
        }
        return ids
    }

    /// Returns the ids of the tags with the given names, in the order of `names`; 0 for each tag that is missing.
    private func storedIDs(of names: [String], in scope: TagScope) throws(StorageError) -> [Int64] {
        let statement = try connection.take(Self.selection)
        defer { connection.giveBack(statement) }
        try statement.bind(scope.hub.rawValue, at: 1)
        try statement.bind(scope.kind == .template, at: 3)
        try statement.bind(scope.platform.rawValue, at: 4)
        var ids: [Int64] = []
        ids.reserveCapacity(names.count)
        for name in names {
            if let known = memory?.tag(name, in: scope) {
                ids.append(known)
                continue
            }
            try statement.bind(name, at: 2)
            let id = try statement.step() ? statement.integer(0) : 0
            statement.reset()
            if id != 0 { memory?.setTag(name, in: scope, to: id) }
            ids.append(id)
        }
        return ids
    }
}

/// A row of `tag_members`.
private struct TagMember: Comparable {
    var tag: Int64
    var channel: Int64
    var registration: Int64

    static func < (left: TagMember, right: TagMember) -> Bool {
        (left.tag, left.channel, left.registration) < (right.tag, right.channel, right.registration)
    }
}
