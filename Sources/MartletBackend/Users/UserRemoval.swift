public import MartletCore
import MartletModel

/// Removes accounts, together with the devices that were registered for them. If the devices remained, they would
/// receive the messages of a later user with the same name.
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

    /// Removes a user, its sessions and its devices. If several hubs may be the backend's hub, the devices are removed
    /// from all of them; a device that is still in use registers itself again.
    ///
    /// The devices are removed before the account, so that a repeated call finishes an interrupted removal. They are
    /// removed once more after the account, because a device may have been registered meanwhile. From then on, no
    /// further device can be registered.
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
            // Each page begins after the last registration of the previous page, so that registrations that cannot be
            // removed are read only once.
            let page = try await devices.registrations(in: hub, .tag(user.tag), after: last, limit: Self.pageSize)
            for registration in page.registrations { try await unregister(registration.id, of: user, in: hub) }
            last = page.next
        } while last != nil
    }

    /// Removes a registration. It also counts as removed if it was deleted or now belongs to another user.
    private func unregister(_ id: String, of user: UserName, in hub: Hub.ID) async throws(DeviceRegistryError) {
        do throws(DeviceRegistryError) {
            _ = try await devices.delete(id, in: hub, condition: .tagged(user.tag))
        } catch {
            guard case .refused = error else { throw error }
        }
    }
}
