/// How registrations are written as lines of files: a matter of the API that jobs were asked for through.
public protocol JobLines: Sendable {
    /// What a line of an import asks for.
    func change(_ line: [UInt8], _ kind: Job.Kind, in hub: Hub.ID) throws(JobLineError) -> RegistrationChange

    /// The line of a registration, with no line break; nil for one of a platform that there no longer is.
    func line(_ registration: Registration) -> [UInt8]?

    /// The longest line of an import, in bytes.
    var lengthLimit: Int { get }
}

/// Why a line asks for nothing.
public struct JobLineError: Error, Hashable, Sendable {
    /// A sentence; holds no handle.
    public let sentence: String

    public init(_ sentence: String) {
        self.sentence = sentence
    }
}
