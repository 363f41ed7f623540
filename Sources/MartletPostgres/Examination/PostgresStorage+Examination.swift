public import MartletCore

/// The secret key that a node would have.
public enum NodeKey: Sendable {
    case given(any Sealer)
    /// There is none: the node would make one for a new database.
    case absent
    /// There is one, and it cannot be read.
    case unreadable
}

extension PostgresStorage {
    /// Throws an error if a node that has no secret key cannot start on a database, for example because secrets in it are
    /// sealed with the key of another node. Changes nothing.
    /// - Parameter schema: The name of the schema that contains the tables.
    public static func checkWithoutKey(
        _ address: DatabaseAddress, schema: String = "martlet"
    ) async throws(StorageError) {
        let settings = ConnectionSettings(address: address, schema: schema, patience: .seconds(20))
        let link = Link(settings)
        let refusal: StorageError?
        do throws(DatabaseFailure) {
            refusal = try await link.perform { access throws(DatabaseFailure) in
                try refusalWithoutKey(settings, access.connection)
            }
        } catch {
            refusal = error.storageError
        }
        await link.close()
        if let refusal { throw refusal }
    }

    private static func refusalWithoutKey(
        _ settings: ConnectionSettings, _ connection: Connection
    ) throws(DatabaseFailure) -> StorageError? {
        let patience = Connection.Patience.until(.now + settings.patience)
        if let fault = try ServerCheck(connection, patience).fault(of: settings.address) { return fault }
        let state = try Migrator(migrations: Migration.all, schema: settings.schema).state(connection, patience)
        switch state {
        case .none: return nil
        case .unusable(let error): return error
        case .current, .older: break
        }
        if state == .current, let place = try connection.run(Batch(MovedAway.stored), patience)[0][0].optionalText(0) {
            return MovedAway.refusal(place, settings.schema)
        }
        return try KeyCheck.storedText(connection, patience) == nil ? nil : KeyCheck.noKey
    }

    /// Examines the settings and the state of a database without changing anything.
    /// - Parameters:
    ///   - address: The address of the database. The findings apply to the user in this address.
    ///   - time: The clock of this machine.
    ///   - key: The secret key that a node here would have.
    ///   - schema: The name of the schema that contains the tables.
    /// - Returns: A finding for each setting and condition. If the database cannot be used, the first problem says why.
    public static func findings(
        about address: DatabaseAddress, time: any TimeSource, key: NodeKey, schema: String = "martlet"
    ) async -> [DatabaseFinding] {
        let settings = ConnectionSettings(address: address, schema: schema)
        let link = Link(settings)
        let findings: [DatabaseFinding]
        do throws(DatabaseFailure) {
            findings = try await link.perform { access throws(DatabaseFailure) in
                let patience = Connection.Patience.until(.now + settings.patience)
                let check = try ServerCheck(access.connection, patience)
                let basic = check.findings(about: address)
                // The statements below work only in the versions that this program supports.
                guard check.isNewEnough else { return basic }
                let facts = try DatabaseFacts(access.connection, settings, time, patience, key: key)
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
