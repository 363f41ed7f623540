public import MartletModel

/// A write of one registration of an installation that leaves the others as they are: a line of an import.
public struct InstallationMerge: Sendable {
    /// What the registration says of its installation.
    public var part: InstallationPart
    public var row: InstallationRow
    /// The id of the registration where it is new and nothing has had this id; nil for one of the hub's own form.
    public var registrationID: String?
    /// Whether the registration must be there.
    public var updatesOnly: Bool

    public init(part: InstallationPart, row: InstallationRow, registrationID: String?, updatesOnly: Bool) {
        self.part = part
        self.row = row
        self.registrationID = registrationID
        self.updatesOnly = updatesOnly
    }

    /// The installation's document with the part in it.
    /// - Parameter old: The document that is stored; nil where there is none.
    /// - Throws: `InstallationError` for a part that the installation cannot have.
    public func document(over old: [UInt8]?) throws(InstallationError) -> [UInt8] {
        guard let old else { return try Installation(part).json.bytes }
        var installation = try Installation(parsing: old, id: part.installation, isComplete: false)
        try installation.merge(part)
        return installation.json.bytes
    }
}

extension DeviceRegistry {
    /// The write that merges a registration into its installation, checked as `put` checks an installation.
    /// - Throws: `DeviceRegistryError.invalid` for what the platform cannot have.
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
