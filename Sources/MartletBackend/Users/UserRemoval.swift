public import MartletCore
import MartletModel

/// Removes accounts together with the devices that were registered for them: the next user of the name must not be
/// read on them.
public struct UserRemoval: Sendable {
    private let users: UserDirectory
    private let devices: DeviceRegistry
    private let hub: BackendHub

    private static let pageSize = 100

    public init(users: UserDirectory, devices: DeviceRegistry, hub: BackendHub) {
        self.users = users
        self.devices = devices
        self.hub = hub
    }

    /// Removes a user, its sessions and its devices. Where several hubs may be the backend's, the devices go from all of
    /// them; one that is still used registers itself again.
    ///
    /// The devices go first, so that asking again finishes what was interrupted, and once more after the account, from
    /// which on no further one can come.
    public func remove(_ name: String) async throws(UserDirectoryError) {
        let user = try await users.find(name)
        try await unregister(user)
        try await users.remove(user)
        try await unregister(user)
    }

    private func unregister(_ user: UserName) async throws(UserDirectoryError) {
        for hub in hub.candidates {
            do throws(DeviceRegistryError) {
                try await unregister(user, in: hub.id)
            } catch {
                guard case .storage(let error) = error else { continue }
                throw .storage(error)
            }
        }
    }

    private func unregister(_ user: UserName, in hub: Hub.ID) async throws(DeviceRegistryError) {
        var last: Int64?
        repeat {
            // Each page begins after the last one, so that registrations that cannot be removed are seen only once.
            let page = try await devices.registrations(in: hub, .tag(user.tag), after: last, limit: Self.pageSize)
            for registration in page.registrations { try await unregister(registration.id, of: user, in: hub) }
            last = page.next
        } while last != nil
    }

    /// One that has gone, or to another user, meanwhile is as good as removed.
    private func unregister(_ id: String, of user: UserName, in hub: Hub.ID) async throws(DeviceRegistryError) {
        do throws(DeviceRegistryError) {
            _ = try await devices.delete(id, in: hub, condition: .tagged(user.tag))
        } catch {
            guard case .refused = error else { throw error }
        }
    }
}
