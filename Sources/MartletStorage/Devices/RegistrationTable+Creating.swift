import MartletCore
import MartletModel

// Registrations with new ids are created together, table by table, because a statement for each row of each table would
// take several times as long.
extension RegistrationTable {
    /// Applies changes in their order.
    func apply(
        _ changes: some Sequence<RegistrationChange>, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> [Result<Registration, RegistrationRefusal>] {
        var results: [Result<Registration, RegistrationRefusal>] = []
        var creations: [Creation] = []
        for change in changes {
            if case .put(let draft, let id, .fresh) = change, !draft.takesHandle {
                creations.append(Creation(draft: draft, id: id))
            } else {
                results += try create(creations, in: hub, at: now)
                creations = []
                results.append(try apply(change, in: hub, at: now))
            }
        }
        return results + (try create(creations, in: hub, at: now))
    }

    private func create(
        _ creations: [Creation], in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> [Result<Registration, RegistrationRefusal>] {
        guard !creations.isEmpty else { return [] }
        guard try exists(hub) else { return creations.map { _ in .failure(.notFound) } }
        let channels = try channels.register(creations.map(\.draft), in: hub, at: now)
        var created: [StoredRegistration] = []
        created.reserveCapacity(creations.count)
        for (creation, channel) in zip(creations, channels) {
            var new = Self.stored(creation.draft, id: creation.id, channel, over: nil, row: nil, in: hub, at: now)
            try useContents(of: &new, over: nil)
            created.append(new)
        }
        try insert(&created)
        try tags.insert(created)
        return created.map { .success($0.registration) }
    }

    /// Inserts the rows of new registrations, and sets the registrations' sequence numbers, which are consecutive.
    private func insert(_ created: inout [StoredRegistration]) throws(StorageError) {
        try connection.insert(
            """
            INSERT INTO registrations (hub, id, channel, version, tags, created_at, updated_at, expires_at, template,
                variables, secondary_tile)
            """, columns: 11, created
        ) { new, statement, first throws(StorageError) in
            let registration = new.registration
            try statement.bind(new.index.scope.hub.rawValue, at: first)
            try statement.bind(StoredID(registration.id), at: first + 1)
            try statement.bind(new.index.channel.rawValue, at: first + 2)
            try statement.bind(registration.version, at: first + 3)
            try statement.bind(StoredRegistration.text(registration.tags), at: first + 4)
            try statement.bind(registration.createdAt, at: first + 5)
            try statement.bind(registration.updatedAt, at: first + 6)
            try statement.bind(registration.expiresAt, at: first + 7)
            try statement.bind(new.template, at: first + 8)
            try statement.bind(new.variables, at: first + 9)
            try statement.bind(registration.secondaryTile, at: first + 10)
        }
        let first = connection.lastInsertedRow - Int64(created.count) + 1
        for index in created.indices { created[index].index.registration = first + Int64(index) }
    }
}

/// A registration to create, with the id that was made for it.
private struct Creation {
    var draft: RegistrationDraft
    var id: String
}
