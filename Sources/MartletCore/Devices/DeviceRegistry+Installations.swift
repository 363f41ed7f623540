public import MartletModel

// These methods write installations together with all their registrations.
extension DeviceRegistry {
    /// Creates or replaces an installation.
    ///
    /// An expiry that has passed is ignored, and so is an expiry later than the hub allows, because the clocks of
    /// devices are unreliable.
    /// - Throws: `DeviceRegistryError`; then nothing has changed.
    public func put(_ installation: Installation, in hub: Hub.ID) async throws(DeviceRegistryError) {
        _ = try await write(installation, in: hub, .none)
    }

    /// Creates or replaces an installation like `put(_:in:)`, if a condition is met.
    /// - Returns: The installation as it is stored now.
    public func put(
        _ installation: Installation, in hub: Hub.ID, condition: WriteCondition
    ) async throws(DeviceRegistryError) -> InstallationRecord {
        try await write(installation, in: hub, condition)
    }

    /// Applies a patch to an installation. If several patches are applied at the same time, none of them is lost.
    /// - Throws: `DeviceRegistryError`; then nothing has changed. The error is `refused(.notFound)` if the installation
    ///   does not exist.
    public func patchInstallation(
        _ id: String, with patch: InstallationPatch, in hub: Hub.ID
    ) async throws(DeviceRegistryError) {
        // This loop ends. A version mismatch means that another write has succeeded. So of several concurrent patches,
        // at least one always succeeds.
        while true {
            guard let record = try await record(of: id, in: hub) else { throw .refused(.notFound) }
            let stored: Installation
            let changed: Installation
            do throws(InstallationError) {
                stored = try installation(of: record)
                changed = try patch.apply(to: stored)
            } catch {
                throw .invalid(error.description)
            }
            do throws(DeviceRegistryError) {
                _ = try await write(changed, in: hub, .version(record.version), stored: stored)
                return
            } catch {
                guard case .refused(.versionMismatch) = error else { throw error }
            }
        }
    }

    /// Returns an installation with its current channels; nil if the installation does not exist or has expired. A
    /// channel is marked as expired if a push service has reported it as gone, or if another registration has taken its
    /// handle.
    public func installation(_ id: String, in hub: Hub.ID) async throws(DeviceRegistryError) -> Installation? {
        guard let record = try await record(of: id, in: hub) else { return nil }
        do throws(InstallationError) {
            var installation = try installation(of: record)
            installation.expirationTime = record.expiresAt
            return installation
        } catch {
            throw .storage(StorageError(.corrupt, "A stored installation cannot be read; restore a backup."))
        }
    }

    /// Deletes an installation with its registrations. Does nothing if the installation does not exist.
    public func deleteInstallation(_ id: String, in hub: Hub.ID) async throws(DeviceRegistryError) {
        do throws(DeviceRegistryError) {
            _ = try await apply(.delete(id: id, condition: .none), in: hub)
        } catch {
            guard case .refused(.notFound) = error else { throw error }
        }
    }

    private func write(
        _ installation: Installation, in hub: Hub.ID, _ condition: WriteCondition, stored: Installation? = nil
    ) async throws(DeviceRegistryError) -> InstallationRecord {
        let platform = try platform(installation.platform)
        var installation = installation
        if let asked = installation.expirationTime, asked <= time.now { installation.expirationTime = nil }
        let expiry = [installation.expirationTime, expiry(in: hub)].compactMap { $0 }.min()
        let rows = InstallationRows(
            installation: installation, platform: platform, expiresAt: expiry, stored: stored?.allTemplates ?? [])
        let draft = InstallationDraft(
            id: installation.id, document: installation.json.bytes, expiresAt: expiry, rows: try rows.all())
        return try await apply(.put(draft, condition: condition), in: hub)
    }

    /// Returns the platform of an installation.
    /// - Throws: `DeviceRegistryError.invalid` if the server does not know the platform.
    func platform(_ id: PlatformID) throws(DeviceRegistryError) -> any PushPlatform.Type {
        guard let platform = platforms[id] else {
            let known = platforms.map { $0.descriptor.platform.rawValue }.sorted().joined(separator: ", ")
            throw .invalid("The platform of the installation is none of \(known).")
        }
        return platform
    }

    private func apply(
        _ change: InstallationChange, in hub: Hub.ID
    ) async throws(DeviceRegistryError) -> InstallationRecord {
        let result: Result<InstallationRecord, RegistrationRefusal>
        do throws(StorageError) {
            result = try await store.apply(change, in: hub, at: time.now)
        } catch {
            throw .storage(error)
        }
        switch result {
        case .success(let record): return record
        case .failure(let refusal): throw .refused(refusal)
        }
    }

    private func record(of id: String, in hub: Hub.ID) async throws(DeviceRegistryError) -> InstallationRecord? {
        do throws(StorageError) {
            return try await store.installation(id, in: hub, at: time.now)
        } catch {
            throw .storage(error)
        }
    }

    /// Returns the installation as the device wrote it, but with the current channels.
    private func installation(of record: InstallationRecord) throws(InstallationError) -> Installation {
        var installation = try Installation(parsing: record.document, id: record.id, isComplete: false)
        guard let platform = platforms[installation.platform] else { return installation }
        installation.pushChannel = current(
            installation.pushChannel, at: InstallationSlot.native(), in: record, on: platform)
        installation.isPushChannelExpired = record.deadSlots.contains(InstallationSlot.native())
        for (id, tile) in installation.secondaryTiles {
            let slot = InstallationSlot.native(tile: id)
            var tile = tile
            tile.pushChannel = current(tile.pushChannel, at: slot, in: record, on: platform)
            tile.isPushChannelExpired = record.deadSlots.contains(slot)
            installation.secondaryTiles[id] = tile
        }
        return installation
    }

    /// Returns the current channel of a slot (`InstallationSlot`). The spelling of the channel stays as the device
    /// wrote it, unless the handle was replaced.
    private func current(
        _ channel: InstallationChannel, at slot: String, in record: InstallationRecord,
        on platform: any PushPlatform.Type
    ) -> InstallationChannel {
        guard let handle = record.handles[slot], let now = try? platform.key(of: handle),
            let written = try? platform.key(of: try channel.handle(on: platform.descriptor)), now != written
        else { return channel }
        return channel.replaced(with: handle, on: platform.descriptor)
    }
}

extension Installation {
    /// The templates of the installation and of its secondary tiles.
    fileprivate var allTemplates: Set<InstallationTemplate> {
        Set(templates.values).union(secondaryTiles.values.flatMap(\.templates.values))
    }
}
