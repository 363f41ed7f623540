import MartletCore
import MartletModel

/// Finds the variant of each member of a composed send. Members must be requested in the order of the audience.
final class VariantCursor {
    /// For a page of at most this many members, a `LanguageCursor` reads the registrations of each member. For a larger
    /// page it reads the members of the language tags.
    static let few = 64

    private let connection: Connection
    /// The cursor for languages; nil if the message has one language.
    private let languages: LanguageCursor?
    /// The cursor for push variables; nil if the message uses none.
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

    /// Finds the variant of the member that was appended to a page last, and stores it in the page.
    func append(_ position: AudiencePosition, to page: inout AudiencePage) throws(StorageError) {
        let id = MessageVariant.ID(
            language: try languages?.language(of: position.channel) ?? 0,
            variables: try variables?.variables(of: position.registration) ?? 0)
        try page.setVariant(id) { () throws(StorageError) in try ContentTable(connection).variables(id.variables) }
    }
}

/// Finds the push variables of registrations, with one look-up for each. The sequence numbers of successive look-ups
/// mostly ascend, because only the first registration of each channel is requested.
final class VariableCursor {
    static let sql = "SELECT variables FROM registrations WHERE sequence = ?"

    private let statement: Statement

    /// Creates a cursor.
    /// - Parameter statement: A statement of `sql`, used only by this cursor.
    init(_ statement: Statement) {
        self.statement = statement
    }

    /// Returns the id of the push variables of a registration; 0 for none.
    func variables(of registration: Int64) throws(StorageError) -> Int64 {
        statement.reset()
        try statement.bind(registration, at: 1)
        return try statement.step() ? statement.integer(0) : 0
    }
}
