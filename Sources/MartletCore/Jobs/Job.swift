public import MartletModel

/// Work on many registrations of a hub at once, from a file to the hub or from the hub to a file.
public struct Job: Sendable {
    public let id: String
    public let hub: Hub.ID
    public let kind: Kind
    /// Where its files go, as its caller gave it. A secret: it is signed.
    public let outputURL: String
    public let output: ContainerName
    /// What the names of its files begin with, up to the slash.
    public let directory: BlobName
    /// What it reads, for imports: as its caller gave it, and what that is.
    public let input: Input?
    public let createdAt: Timestamp
    public var status = Status.started
    /// In percent, 0 to 100.
    public var progress = 0.0
    /// Why it failed, in a sentence.
    public var failure: String?
    public var updatedAt: Timestamp

    public struct Input: Hashable, Sendable {
        /// A secret: it is signed.
        public let url: String
        public let address: BlobAddress

        public init(url: String, address: BlobAddress) {
            self.url = url
            self.address = address
        }
    }

    /// The spellings are the wire's.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        case export = "ExportRegistrations"
        case importCreate = "ImportCreateRegistrations"
        case importUpdate = "ImportUpdateRegistrations"
        case importDelete = "ImportDeleteRegistrations"
        case importUpsert = "ImportUpsertRegistrations"
    }

    /// The spellings are the wire's.
    public enum Status: String, Hashable, Sendable {
        /// Waits for its turn.
        case started = "Started"
        case running = "Running"
        case completed = "Completed"
        case failed = "Failed"

        public var isFinal: Bool { self == .completed || self == .failed }
    }

    public init(
        id: String, hub: Hub.ID, kind: Kind, outputURL: String, output: ContainerName, directory: BlobName,
        input: Input?, createdAt: Timestamp
    ) {
        self.id = id
        self.hub = hub
        self.kind = kind
        self.outputURL = outputURL
        self.output = output
        self.directory = directory
        self.input = input
        self.createdAt = createdAt
        updatedAt = createdAt
    }

    /// One of the two files that a job writes.
    public enum File: String, CaseIterable, Sendable {
        case output = "Output"
        case failed = "Failed"

        /// The property that names it in a job's description.
        public var property: String { "\(rawValue)FilePath" }
    }

    public func path(of file: File) -> String { "\(directory)/\(file.rawValue).txt" }
}
