import MartletCore

/// Stores and reads the access rules of hubs and of the namespace, on one connection. The keys of the rules are stored
/// encrypted ("sealed").
struct AccessRuleTable {
    private let connection: Connection
    private let sealer: any Sealer

    init(_ connection: Connection, _ sealer: any Sealer) {
        self.connection = connection
        self.sealer = sealer
    }

    private static let columns = "name, rights, sealed_primary_key, sealed_secondary_key, created_at, modified_at"

    /// The sealed columns of all rules: each rule has a primary and a secondary key.
    static let sealedColumns = [("access_rules", "'access_rules/' || hub"), ("namespace_rules", "'namespace_rules'")]
        .flatMap { table, context in
            ["primary", "secondary"].map { key in
                SealedColumn(
                    table: table, column: "sealed_\(key)_key", context: "\(context) || '/' || name || '/\(key)'")
            }
        }

    // MARK: Rules of a hub

    func rules(of hub: Hub.ID) throws(StorageError) -> [AccessRule] {
        try connection.all(
            "SELECT \(Self.columns) FROM access_rules WHERE hub = ? ORDER BY position", hub.rawValue
        ) { row throws(StorageError) in
            try rule(row, in: Self.context(hub))
        }
    }

    func insert(_ rules: [AccessRule], of hub: Hub.ID) throws(StorageError) {
        for (position, rule) in rules.enumerated() {
            let context = Self.context(hub)
            try connection.run(
                "INSERT INTO access_rules (hub, position, \(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                hub.rawValue, position, rule.name, rule.rights.rawValue, try seal(rule, .primary, in: context),
                try seal(rule, .secondary, in: context), rule.createdAt, rule.modifiedAt)
        }
    }

    func removeRules(of hub: Hub.ID) throws(StorageError) {
        try connection.run("DELETE FROM access_rules WHERE hub = ?", hub.rawValue)
    }

    // MARK: Rules of the namespace

    func namespaceRules() throws(StorageError) -> [AccessRule] {
        try connection.all(
            "SELECT \(Self.columns) FROM namespace_rules ORDER BY position"
        ) { row throws(StorageError) in
            try rule(row, in: Self.namespaceContext)
        }
    }

    func replaceNamespaceRules(_ rules: [AccessRule]) throws(StorageError) {
        try connection.run("DELETE FROM namespace_rules")
        for (position, rule) in rules.enumerated() {
            try connection.run(
                "INSERT INTO namespace_rules (position, \(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)", position,
                rule.name, rule.rights.rawValue, try seal(rule, .primary, in: Self.namespaceContext),
                try seal(rule, .secondary, in: Self.namespaceContext), rule.createdAt, rule.modifiedAt)
        }
    }

    private static let namespaceContext = "namespace_rules"

    private static func context(_ hub: Hub.ID) -> String { "access_rules/\(hub.rawValue)" }

    private func rule(_ row: Statement, in context: String) throws(StorageError) -> AccessRule {
        let name = row.text(0)
        return AccessRule(
            name: name, rights: AccessRights(rawValue: Int(row.integer(1))),
            primaryKey: try open(row.bytes(2), "\(context)/\(name)/primary"),
            secondaryKey: try open(row.bytes(3), "\(context)/\(name)/secondary"), createdAt: row.timestamp(4),
            modifiedAt: row.timestamp(5))
    }

    private func seal(
        _ rule: AccessRule, _ key: AccessRule.KeyKind, in context: String
    ) throws(StorageError) -> [UInt8] {
        try sealer.seal(Array(rule[key].utf8), context: "\(context)/\(rule.name)/\(key.rawValue)")
    }

    private func open(_ sealed: [UInt8], _ context: String) throws(StorageError) -> String {
        guard let bytes = sealer.open(sealed, context: context) else { throw Self.unreadable }
        return String(decoding: bytes, as: UTF8.self)
    }

    static var unreadable: StorageError {
        StorageError(
            .corrupt,
            "The keys of a hub cannot be read: this is not the encryption key that the database was "
                + "written with. Put the secret.key of that time back into the data directory.")
    }
}
