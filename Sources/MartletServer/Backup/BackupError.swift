/// The reason why a file cannot be restored as a backup.
enum BackupError: Error, Hashable, CustomStringConvertible {
    /// The file does not begin with the manifest of a backup.
    case foreign
    /// The file ends before the archive does.
    case truncated
    /// The content was modified or damaged. The value is a clause that says what is wrong.
    case damaged(String)
    /// The backup has a newer format, or a newer database schema, than this program knows.
    case newer

    var description: String {
        switch self {
        case .foreign: "The file is no backup of Martlet."
        case .truncated: "The backup is incomplete: the file ends too early."
        case .damaged(let index): "The backup is damaged: \(index)."
        case .newer: "The backup was made by a newer version of this program; restore it with that."
        }
    }
}
