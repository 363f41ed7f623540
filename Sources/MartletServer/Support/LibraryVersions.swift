import MartletCrypto
import MartletStorage

/// The versions of the shared libraries in use. They can change without a new version of this program, because Debian
/// patches them.
public enum LibraryVersions {
    /// The name and version of each library, such as `SQLite 3.40.1`.
    public static var all: [String] { ["SQLite \(SQLiteLibrary.version)", "OpenSSL \(CryptoLibrary.version)"] }
}
