/// The key, certificate or secret with which a sender proves itself to a push service: the values of the credential
/// properties in the platform's descriptor, keyed by property name.
public struct Credential: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    public var properties: [String: String]

    public init(_ properties: [String: String]) {
        self.properties = properties
    }

    /// A description with the names of the properties, without their values.
    public var description: String { "credential with \(properties.keys.sorted().joined(separator: ", "))" }
    public var debugDescription: String { description }
}
