import MartletCrypto
import MartletStorage

/// The versions of the shared libraries in use. Debian patches them without a new version of this program.
public enum LibraryVersions {
    /// Name and version of each, such as `SQLite 3.40.1`.
    public static var all: [String] { ["SQLite \(SQLiteLibrary.version)", "OpenSSL \(CryptoLibrary.version)"] }
}
