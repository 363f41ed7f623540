/// An error in a request to the control interface, described in a sentence.
public struct SimulatorError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}
