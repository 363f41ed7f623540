/// What a push service requires of a sender: property names of the platform's descriptor, with their values.
public struct Credential: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    public var properties: [String: String]

    public init(_ properties: [String: String]) {
        self.properties = properties
    }

    /// The names of the properties, without values.
    public var description: String { "credential with \(properties.keys.sorted().joined(separator: ", "))" }
    public var debugDescription: String { description }
}
