import MartletModel

/// A group of operations on the same subject, and the settings they share.
public struct APIGroup: Sendable {
    public var name: String
    public var text: String
    /// The names of the accepted security schemes. A caller uses one of them. If empty, the operations need no
    /// authentication.
    public var security: [String]
    /// The parameters of every operation in the group.
    public var parameters: [APIParameter]
    /// The answers of every operation in the group, unless the operation defines its own answer for the same status.
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
