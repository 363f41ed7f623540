/// The key, certificate or secret with which a sender proves itself to a push service. It consists of the properties
/// that the platform's descriptor lists (`CredentialForm.fields`): the value of each property, keyed by its name.
public struct Credential: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    public var properties: [String: String]

    public init(_ properties: [String: String]) {
        self.properties = properties
    }

    /// A description with the names of the properties, without their values.
    public var description: String { "credential with \(properties.keys.sorted().joined(separator: ", "))" }
    public var debugDescription: String { description }
}
