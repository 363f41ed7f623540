public import MartletModel

/// A write to one registration of an installation. The installation's other registrations stay unchanged, except for
/// their expiry. Each line of an import causes such a write.
public struct InstallationMerge: Sendable {
    /// The registration as a part of its installation's document, as in one line of an export.
    public var part: InstallationPart
    public var row: InstallationRow
    /// The id that a new registration gets. If this is nil, or if the id was used before, an id is generated.
    public var registrationID: String?
    /// Whether the registration must already exist.
    public var updatesOnly: Bool

    public init(part: InstallationPart, row: InstallationRow, registrationID: String?, updatesOnly: Bool) {
        self.part = part
        self.row = row
        self.registrationID = registrationID
        self.updatesOnly = updatesOnly
    }

    /// Returns the document of the installation with the part merged into it.
    /// - Parameter old: The stored document; nil if there is none.
    /// - Throws: `InstallationError` if the part has another platform than the installation, if the merged installation
    ///   exceeds a limit, or if the stored document cannot be read.
    public func document(over old: [UInt8]?) throws(InstallationError) -> [UInt8] {
        guard let old else { return try Installation(part).json.bytes }
        var installation = try Installation(parsing: old, id: part.installation, isComplete: false)
        try installation.merge(part)
        return installation.json.bytes
    }
}

extension DeviceRegistry {
    /// Returns the write that merges a registration into its installation. The registration is checked by the same
    /// rules by which `put` checks an installation.
    /// - Throws: `DeviceRegistryError.invalid` if the server does not know the platform, if the platform does not
    ///   accept the channel, the template or the secondary tile of `part`, or if `part` exceeds a limit of
    ///   installations.
    public func merge(
        _ part: InstallationPart, registrationID: String?, updatesOnly: Bool, in hub: Hub.ID
    ) throws(DeviceRegistryError) -> RegistrationChange {
        var part = part
        if let asked = part.expirationTime, asked <= time.now { part.expirationTime = nil }
        let rows = InstallationRows(
            installation: try installation(part), platform: try platform(part.platform),
            expiresAt: [part.expirationTime, expiry(in: hub)].compactMap(\.self).min())
        let slot = InstallationSlot.slot(template: part.templateName, tile: part.secondaryTile)
        guard let row = try rows.all().first(where: { $0.slot == slot }) else {
            throw .invalid("The registration belongs to no part of its installation.")
        }
        return .merge(
            InstallationMerge(part: part, row: row, registrationID: registrationID, updatesOnly: updatesOnly))
    }

    private func installation(_ part: InstallationPart) throws(DeviceRegistryError) -> Installation {
        do throws(InstallationError) {
            return try Installation(part)
        } catch {
            throw .invalid(error.description)
        }
    }
}
