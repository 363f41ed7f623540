import MartletCrypto
import MartletStorage

/// The versions of the shared libraries in use.
///
/// They can change while this program stays the same, because Debian patches the libraries.
public enum LibraryVersions {
    /// The name and version of each library, such as `SQLite 3.40.1`.
    public static var all: [String] { ["SQLite \(SQLiteLibrary.version)", "OpenSSL \(CryptoLibrary.version)"] }
}
