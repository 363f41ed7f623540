import MartletCore
import MartletModel

/// What tells the messages of a composed send's members apart, asked for in the order of the audience.
final class VariantCursor {
    /// The most members of a page whose rows are read one by one for their languages.
    static let few = 64

    private let connection: Connection
    /// nil if the message has one language.
    private let languages: LanguageCursor?
    /// nil if variables do not matter.
    private let variables: VariableCursor?

    init(
        _ variants: AudienceVariants, in scope: TagScope, isForFew: Bool, _ statements: inout BorrowedStatements
    ) throws(StorageError) {
        connection = statements.connection
        languages =
            variants.languages.count > 1
            ? try LanguageCursor(variants.languages, in: scope, isForFew: isForFew, &statements) : nil
        variables = variants.readsVariables ? VariableCursor(try statements.take(VariableCursor.sql)) : nil
    }

    /// Sets the variant of the member that was appended to a page last.
    func append(_ position: AudiencePosition, to page: inout AudiencePage) throws(StorageError) {
        let id = MessageVariant.ID(
            language: try languages?.language(of: position.channel) ?? 0,
            variables: try variables?.variables(of: position.registration) ?? 0)
        try page.setVariant(id) { () throws(StorageError) in try ContentTable(connection).variables(id.variables) }
    }
}

/// The push variables of registrations. The first of each channel is asked for, so numbers mostly rise.
final class VariableCursor {
    static let sql = "SELECT variables FROM registrations WHERE sequence = ?"

    private let statement: Statement

    /// - Parameter statement: Of `sql`, for this cursor alone.
    init(_ statement: Statement) {
        self.statement = statement
    }

    /// The id of the variables; 0 for none.
    func variables(of registration: Int64) throws(StorageError) -> Int64 {
        statement.reset()
        try statement.bind(registration, at: 1)
        return try statement.step() ? statement.integer(0) : 0
    }
}
