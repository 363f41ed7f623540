import MartletCore
import MartletModel

extension Operator {
    /// Reads the columns of `OperatorStatements.columns`.
    init(_ row: Row) {
        self.init(
            name: row.text(0), passwordHash: row.optionalText(1),
            roles: RoleGrants(row.texts(2).compactMap { RoleGrant($0) }), isDisabled: row.bool(3),
            createdAt: row.timestamp(4), signedInAt: row.optionalTimestamp(5), settings: row.text(6),
            hasFactor: row.bool(9), identity: Self.identity(row))
    }

    private static func identity(_ row: Row) -> OperatorIdentity? {
        guard let issuer = row.optionalText(7), let subject = row.optionalText(8) else { return nil }
        return OperatorIdentity(issuer: issuer, subject: subject)
    }
}

extension OperatorSession {
    /// Reads the columns of a session.
    /// - Parameter first: The index of the first of these columns.
    init(_ row: Row, from first: Int32, of name: String) {
        self.init(
            tokenHash: row.bytes(first), operatorName: name, createdAt: row.timestamp(first + 1),
            usedAt: row.timestamp(first + 2), confirmedAt: row.timestamp(first + 3), address: row.text(first + 4),
            agent: row.text(first + 5))
    }
}

extension OperatorAction {
    init(_ row: Row) {
        self.init(
            at: row.timestamp(1), operatorName: row.text(2), address: row.text(3), role: row.text(4),
            action: row.text(5), hub: row.optionalText(6), subject: row.optionalText(7),
            answer: row.optionalInteger(8).map { Int($0) })
    }
}
