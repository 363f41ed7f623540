import MartletCore
import MartletModel

/// Stores and reads templates and push variables, on one connection.
///
/// A content is one template, or the push variables of one registration, encoded as bytes. Equal contents of a hub are
/// stored once, with a count of their uses by registrations and by the history. A content is removed when the count
/// becomes zero. The content stored under an id never changes, and ids are never reused.
struct ContentTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Counts one more use of a content (a template or push variables, encoded), and stores it if the hub does not have
    /// it yet.
    /// - Returns: The content's id.
    func use(_ content: [UInt8], in hub: Hub.ID) throws(StorageError) -> Int64 {
        let id = try connection.first(
            """
            INSERT INTO contents (hub, content, uses) VALUES (?, ?, 1)
            ON CONFLICT (hub, content) DO UPDATE SET uses = uses + 1 RETURNING id
            """, hub.rawValue, content
        ) { $0.integer(0) }
        guard let id else { throw StorageError(.unavailable, "The database did not say which template it stored.") }
        return id
    }

    /// Counts one more use of a stored template or of stored push variables; does nothing for nil.
    func keep(_ id: Int64?) throws(StorageError) {
        guard let id else { return }
        try connection.run("UPDATE contents SET uses = uses + 1 WHERE id = ?", id)
    }

    /// Counts one use less of a stored template or of stored push variables, and removes them after their last use;
    /// does nothing for nil.
    func release(_ id: Int64?) throws(StorageError) {
        guard let id else { return }
        try connection.run("UPDATE contents SET uses = uses - 1 WHERE id = ?", id)
        try connection.run("DELETE FROM contents WHERE id = ? AND uses = 0", id)
    }

    func rendering(_ id: TemplateBinding.ID) throws(StorageError) -> TemplateBinding {
        let variables = id.variables == 0 ? [:] : try variables(id.variables)
        return TemplateBinding(id: id, template: try template(id.template), variables: variables)
    }

    func template(_ id: Int64) throws(StorageError) -> Template { try StoredContent.template(content(id)) }

    func variables(_ id: Int64) throws(StorageError) -> [String: String] {
        try StoredContent.variables(content(id))
    }

    /// Returns a template binding; nil if the hub does not have its template or its variables any more.
    func find(_ id: TemplateBinding.ID, in hub: Hub.ID) throws(StorageError) -> TemplateBinding? {
        for content in [id.template, id.variables] where content != 0 {
            let isThere = try connection.first(
                "SELECT 1 FROM contents WHERE id = ? AND hub = ?", content, hub.rawValue
            ) { _ in true }
            guard isThere ?? false else { return nil }
        }
        return try rendering(id)
    }

    private func content(_ id: Int64) throws(StorageError) -> [UInt8] {
        let content = try connection.first("SELECT content FROM contents WHERE id = ?", id) { $0.bytes(0) }
        guard let content else { throw StoredContent.unreadable }
        return content
    }
}

/// Decodes the contents that `ContentTable` stores: templates and push variables.
enum StoredContent {
    static func template(_ bytes: [UInt8]) throws(StorageError) -> Template {
        guard let template = TemplateCoding.decode(bytes) else { throw unreadable }
        return template
    }

    static func variables(_ bytes: [UInt8]) throws(StorageError) -> [String: String] {
        guard let variables = StringMapCoding.decode(bytes) else { throw unreadable }
        return variables
    }

    static var unreadable: StorageError {
        StorageError(.corrupt, "A stored template or its variables cannot be read; restore a backup.")
    }
}
