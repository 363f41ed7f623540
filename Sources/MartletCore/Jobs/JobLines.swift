/// Parses and writes the lines of a job's files, one registration per line. The API that creates jobs defines the
/// format.
public protocol JobLines: Sendable {
    /// Parses a line of an import.
    func change(_ line: [UInt8], _ kind: Job.Kind, in hub: Hub.ID) throws(JobLineError) -> RegistrationChange

    /// Returns the line of a registration, without a line break; nil if its platform is no longer supported.
    func line(_ registration: Registration) -> [UInt8]?

    /// The maximum length of a line of an import, in bytes.
    var lengthLimit: Int { get }
}

/// The reason why a line of an import is not valid.
public struct JobLineError: Error, Hashable, Sendable {
    /// A sentence that says what is wrong; it contains no handle.
    public let sentence: String

    public init(_ sentence: String) {
        self.sentence = sentence
    }
}
