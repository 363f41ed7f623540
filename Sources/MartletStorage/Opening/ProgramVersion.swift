/// A version of this program, as a database remembers it.
public struct ProgramVersion: Hashable, Sendable {
    /// Such as `0.2.1`; empty if unknown.
    public var version: String
    /// Empty if unknown.
    public var commit: String

    public init(version: String = "", commit: String = "") {
        self.version = version
        self.commit = commit
    }
}
