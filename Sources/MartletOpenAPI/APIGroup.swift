import MartletModel

/// Operations that are about the same thing, and what they have in common.
public struct APIGroup: Sendable {
    public var name: String
    public var text: String
    /// The names of the security schemes, of which a caller needs one; empty: anybody may call.
    public var security: [String]
    /// What every operation takes.
    public var parameters: [APIParameter]
    /// What every operation may answer that says nothing else of the status.
    public var answers: [APIAnswer]
    public var operations: [APIOperation]

    public init(
        _ name: String, _ text: String, security: [String], parameters: [APIParameter] = [], answers: [APIAnswer],
        operations: [APIOperation]
    ) {
        self.name = name
        self.text = text
        self.security = security
        self.parameters = parameters
        self.answers = answers
        self.operations = operations
    }
}
