/// Why a file is no backup that can be restored.
enum BackupError: Error, Hashable, CustomStringConvertible {
    /// It does not begin as a backup does.
    case foreign
    /// It ends too early.
    case truncated
    /// It is not what was written: where that shows.
    case damaged(String)
    /// Its form or its database is newer than this program.
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
