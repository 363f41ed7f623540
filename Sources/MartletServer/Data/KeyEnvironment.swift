import Glibc

/// The environment variables with which an operator can give the server's keys, to keep them away from the data.
public enum KeyEnvironment {
    private static let variable = "MARTLET_SECRET_KEY"
    private static let fileVariable = "MARTLET_SECRET_KEY_FILE"

    static let names = "\(variable) or \(fileVariable)"

    /// Whether the environment of this process gives the keys.
    ///
    /// If so, the data directory contains no keys.
    public static var givesKeys: Bool { getenv(variable) != nil || getenv(fileVariable) != nil }

    /// Returns the text of the keys: the value of one variable, or the contents of the file that the other variable
    /// names.
    /// - Parameter value: Returns the value of an environment variable; nil if the variable is not set.
    /// - Returns: nil if neither variable is set.
    static func text(_ value: (String) -> String?) throws(ServerError) -> String? {
        guard let path = value(fileVariable) else { return value(variable) }
        guard value(variable) == nil else { throw ServerError("Set \(names), not both.") }
        guard let bytes = try SecretFile.read(path, limit: 4096) else {
            throw ServerError("Cannot read \(path), which \(fileVariable) names: there is no such file.")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
