/// A version of this program, as recorded in a database.
public struct ProgramVersion: Hashable, Sendable {
    /// The version, such as `0.2.1`; empty if unknown.
    public var version: String
    /// The commit; empty if unknown.
    public var commit: String

    public init(version: String = "", commit: String = "") {
        self.version = version
        self.commit = commit
    }
}
