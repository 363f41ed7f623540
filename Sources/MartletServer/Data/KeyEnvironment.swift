import Glibc

/// The environment variables with which an operator can give the server's keys, to keep them away from the data.
public enum KeyEnvironment {
    private static let variable = "MARTLET_SECRET_KEY"
    private static let fileVariable = "MARTLET_SECRET_KEY_FILE"

    /// The names of both, for messages.
    public static let names = "\(variable) or \(fileVariable)"

    /// Whether the environment of this process gives the keys.
    ///
    /// If so, the data directory contains no keys.
    public static var givesKeys: Bool { process(variable) != nil || fileName(process) != nil }

    /// The text of the keys that the environment of this process gives; nil if it gives none.
    static var keys: String? {
        get throws(ServerError) { try text(process) }
    }

    private static func process(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Returns the name of the file with the keys; nil if none is named. An empty name counts as none, as an empty value
    /// of the program's other variables does. An empty key is an error: it is what a failed substitution leaves behind, and
    /// a new key in its place would open nothing.
    private static func fileName(_ value: (String) -> String?) -> String? {
        value(fileVariable).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the text of the keys: the value of one variable, or the contents of the file that the other variable
    /// names.
    /// - Parameter value: Returns the value of an environment variable; nil if the variable is not set.
    /// - Returns: nil if neither variable is set.
    static func text(_ value: (String) -> String?) throws(ServerError) -> String? {
        guard let path = fileName(value) else { return value(variable) }
        guard value(variable) == nil else { throw ServerError("Set \(names), not both.") }
        guard let bytes = try SecretFile.read(path, limit: 4096) else {
            throw ServerError("Cannot read \(path), which \(fileVariable) names: there is no such file.")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
