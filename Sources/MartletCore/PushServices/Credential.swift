/// What a push service asks of a sender: property names of the platform's descriptor, with their values.
public struct Credential: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    public var properties: [String: String]

    public init(_ properties: [String: String]) {
        self.properties = properties
    }

    /// Names the properties and shows no value.
    public var description: String { "credential with \(properties.keys.sorted().joined(separator: ", "))" }
    public var debugDescription: String { description }
}
