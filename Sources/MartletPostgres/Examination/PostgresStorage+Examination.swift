public import MartletCore

extension PostgresStorage {
    /// Examines the settings and the state of a database without changing anything.
    /// - Parameters:
    ///   - address: The address of the database. The findings apply to the user in this address.
    ///   - time: The clock of this machine.
    /// - Returns: A finding for each setting and condition. If the database cannot be used, the first problem says why.
    public static func findings(about address: DatabaseAddress, time: any TimeSource) async -> [DatabaseFinding] {
        let settings = ConnectionSettings(address: address)
        let link = Link(settings)
        let findings: [DatabaseFinding]
        do throws(DatabaseFailure) {
            findings = try await link.perform { access throws(DatabaseFailure) in
                let patience = Connection.Patience.until(.now + settings.patience)
                let check = try ServerCheck(access.connection, patience)
                let basic = check.findings(about: address)
                // The statements below work only in the versions that this program supports.
                guard check.isNewEnough else { return basic }
                let facts = try DatabaseFacts(access.connection, settings, time, patience)
                return basic + facts.findings(connections: check.connections)
            }
        } catch {
            findings = [DatabaseFinding(.problem, error.storageError.detail)]
        }
        await link.close()
        return findings
    }
}

extension ServerCheck {
    func findings(about address: DatabaseAddress) -> [DatabaseFinding] {
        let version = DatabaseFinding(fault: versionFault, orGood: "PostgreSQL \(version / 10_000) is new enough.")
        guard isNewEnough else { return [version] }
        return [
            version,
            DatabaseFinding(fault: writingFault(of: address), orGood: "The server can write to \(address)."),
            DatabaseFinding(fault: encodingFault(of: address), orGood: "The encoding is UTF8."),
            DatabaseFinding(fault: collationFault(of: address), orGood: "The collation is \(collation)."),
        ] + (connectionFault(of: address).map { [DatabaseFinding(.problem, $0)] } ?? [])
    }
}
