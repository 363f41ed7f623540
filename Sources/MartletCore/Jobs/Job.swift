public import MartletModel

/// A bulk operation on the registrations of a hub: an import from a file, or an export to a file.
public struct Job: Sendable {
    public let id: String
    public let hub: Hub.ID
    public let kind: Kind
    /// The container URL for the job's files, as given by the caller. It is secret, because it contains a signature.
    public let outputURL: String
    public let output: ContainerName
    /// The directory of the job's files in the container.
    public let directory: BlobName
    /// The input file of an import; nil for an export.
    public let input: Input?
    public let createdAt: Timestamp
    public var status = Status.started
    /// The progress in percent, 0 to 100.
    public var progress = 0.0
    /// The reason why the job failed, as a sentence; nil if it has not failed.
    public var failure: String?
    public var updatedAt: Timestamp

    public struct Input: Hashable, Sendable {
        /// The URL of the input file as given by the caller. It is secret, because it contains a signature.
        public let url: String
        public let address: BlobAddress

        public init(url: String, address: BlobAddress) {
            self.url = url
            self.address = address
        }
    }

    /// The kind of a job. The raw values are the names in the hub's REST API.
    public enum Kind: String, CaseIterable, Hashable, Sendable {
        case export = "ExportRegistrations"
        case importCreate = "ImportCreateRegistrations"
        case importUpdate = "ImportUpdateRegistrations"
        case importDelete = "ImportDeleteRegistrations"
        case importUpsert = "ImportUpsertRegistrations"
    }

    /// The status of a job. The raw values are the names in the hub's REST API.
    public enum Status: String, Hashable, Sendable {
        /// The job is queued.
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

    /// A file that a job writes: its output, or the list of the lines that failed.
    public enum File: String, CaseIterable, Sendable {
        case output = "Output"
        case failed = "Failed"

        /// The name of the property, in the description of a job, that contains the path of this file.
        public var property: String { "\(rawValue)FilePath" }
    }

    public func path(of file: File) -> String { "\(directory)/\(file.rawValue).txt" }
}
