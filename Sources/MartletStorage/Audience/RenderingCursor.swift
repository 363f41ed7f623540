import MartletCore

/// Finds the template bindings of registrations. Registrations must be requested in the order of the audience, which is
/// nearly the order of their sequence numbers. The cursor steps to rows that are at most `stepLimit` rows ahead, and
/// jumps to all other rows.
final class RenderingCursor {
    static let sql = "SELECT sequence, template, variables FROM registrations WHERE sequence >= ? ORDER BY sequence"

    private let statement: Statement
    private var current: Int64 = .max

    private static let stepLimit = 4

    /// Creates a cursor.
    /// - Parameter statement: A statement of `sql`, used only by this cursor.
    init(_ statement: Statement) {
        self.statement = statement
    }

    /// Returns the template binding of a registration.
    /// - Parameter registration: The sequence number of a registration that exists and has a template.
    func rendering(of registration: Int64) throws(StorageError) -> TemplateBinding.ID {
        try seek(registration)
        guard current == registration, let template = statement.optionalInteger(1) else {
            throw StorageError(.corrupt, "A member of an audience has no template; restore a backup.")
        }
        return TemplateBinding.ID(template: template, variables: statement.integer(2))
    }

    private func seek(_ registration: Int64) throws(StorageError) {
        var stepsLeft = Self.stepLimit
        while current < registration, stepsLeft > 0 {
            try step()
            stepsLeft -= 1
        }
        if current != registration { try jump(to: registration) }
    }

    private func jump(to registration: Int64) throws(StorageError) {
        statement.reset()
        try statement.bind(registration, at: 1)
        try step()
    }

    private func step() throws(StorageError) {
        current = try statement.step() ? statement.integer(0) : .max
    }
}
