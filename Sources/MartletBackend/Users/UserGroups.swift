public import MartletCore
import MartletModel

/// Adds users to groups and removes them, and updates the tags of the users' registered devices.
public struct UserGroups: Sendable {
    private let users: UserDirectory
    private let devices: DeviceRegistry
    private let hub: BackendHub

    private static let pageSize = 100
    /// The maximum number of attempts to change a registration that another writer changes at the same time.
    private static let attemptLimit = 10

    public init(users: UserDirectory, devices: DeviceRegistry, hub: BackendHub) {
        self.users = users
        self.devices = devices
        self.hub = hub
    }

    /// Adds a user to a group. The user's current devices get the group's tag now, later ones when they are registered.
    public func add(_ group: String, to name: String) async throws(UserDirectoryError) {
        let group = try self.group(group)
        let user = try await users.find(name)
        try await users.join(group, user)
        try await change(user, group, isMember: true)
    }

    /// Removes a user from a group. The user's devices lose the group's tag. A repeated call finishes an interrupted
    /// removal.
    public func remove(_ group: String, from name: String) async throws(UserDirectoryError) {
        let group = try self.group(group)
        let user = try await users.find(name)
        try await users.leave(group, user)
        try await change(user, group, isMember: false)
    }

    private func group(_ name: String) throws(UserDirectoryError) -> GroupName {
        guard let group = GroupName(name) else { throw .badGroup }
        return group
    }

    private func change(_ user: UserName, _ group: GroupName, isMember: Bool) async throws(UserDirectoryError) {
        var full = 0
        for hub in hub.candidates {
            var position: Int64?
            repeat {
                let page = try await registered { () throws(DeviceRegistryError) in
                    try await devices.registrations(in: hub.id, .tag(user.tag), after: position, limit: Self.pageSize)
                }
                for registration in page.registrations {
                    let isChanged = try await change(registration, of: user, in: hub.id, group, isMember: isMember)
                    if !isChanged { full += 1 }
                }
                position = page.next
            } while position != nil
        }
        guard full == 0 else { throw .devicesAreFull(full) }
    }

    /// Changes the tag of a group in a registration.
    /// - Returns: true if the registration has the right tags, no longer exists, or may not be changed by the backend;
    ///   false if it already has as many tags as a registration may have.
    private func change(
        _ registration: Registration, of user: UserName, in hub: Hub.ID, _ group: GroupName, isMember: Bool
    ) async throws(UserDirectoryError) -> Bool {
        var found: Registration? = registration
        for _ in 0..<Self.attemptLimit {
            guard let current = found, current.tags.contains(user.tag), current.installation == nil,
                current.tags.contains(group.tag) != isMember
            else { return true }
            let tags = isMember ? current.tags + [group.tag] : current.tags.filter { $0 != group.tag }
            guard tags.count <= Tag.countLimit else { return false }
            if try await put(current, tags, in: hub) { return true }
            found = try await registered { () throws(DeviceRegistryError) in
                try await devices.registration(registration.id, in: hub)
            }
        }
        throw .busy
    }

    /// Writes the tags of a registration.
    /// - Returns: false if the write was refused because the registration was changed or removed meanwhile.
    private func put(
        _ registration: Registration, _ tags: [Tag], in hub: Hub.ID
    ) async throws(UserDirectoryError) -> Bool {
        do throws(DeviceRegistryError) {
            _ = try await devices.put(
                registration.id, in: hub, platform: registration.platform, handle: registration.handle, tags: tags,
                template: registration.template, pushVariables: registration.pushVariables,
                secondaryTile: registration.secondaryTile, condition: .version(registration.version))
            return true
        } catch {
            switch error {
            case .refused: return false
            // The registration was valid when it was written, and only its tags have changed. If it is invalid now,
            // another attempt would not help, so the registration is left as it is and counts as written.
            case .invalid: return true
            case .storage(let error): throw .storage(error)
            }
        }
    }

    private func registered<Value>(
        _ work: () async throws(DeviceRegistryError) -> Value
    ) async throws(UserDirectoryError) -> Value {
        do throws(DeviceRegistryError) {
            return try await work()
        } catch {
            guard case .storage(let error) = error else { throw .busy }
            throw .storage(error)
        }
    }
}
