public import MartletModel

/// A write to one installation, with all its registrations in the same transaction.
public enum InstallationChange: Sendable {
    /// Creates or replaces the installation.
    case put(InstallationDraft, condition: WriteCondition)
    /// Removes it with its registrations. Their ids leave no tombstones: nobody else was ever given them to write.
    case delete(id: String, condition: WriteCondition)
}

/// An installation as its device describes it, with the registrations that follow from that.
public struct InstallationDraft: Sendable {
    public var id: String
    /// What the device said, as JSON. Handles in it are those of the time when it was written; `InstallationRecord`
    /// knows the current ones.
    public var document: [UInt8]
    /// nil: never. Its rows expire with it, whatever their drafts say.
    public var expiresAt: Timestamp?
    /// Rows with one handle keep it beside each other where they take it (`RegistrationDraft.takesHandle`).
    public var rows: [InstallationRow]

    public init(id: String, document: [UInt8], expiresAt: Timestamp?, rows: [InstallationRow]) {
        self.id = id
        self.document = document
        self.expiresAt = expiresAt
        self.rows = rows
    }
}

/// One registration of an installation.
public struct InstallationRow: Sendable {
    /// What it is in its installation, such as the native row or a template's name: unique there, and the same in the
    /// next write, which then changes the registration instead of making another.
    public var slot: String
    public var registration: RegistrationDraft

    public init(slot: String, registration: RegistrationDraft) {
        self.slot = slot
        self.registration = registration
    }
}

/// An installation as it is stored.
public struct InstallationRecord: Sendable {
    public let id: String
    public var document: [UInt8]
    /// Counts the writes, from 1.
    public var version: Int64
    public var expiresAt: Timestamp?
    /// The handles of its registrations as they are now, by slot: a push service may have replaced one since the last
    /// write.
    public var handles: [String: PushHandle]
    /// The slots whose handle a push service has called dead, or another registration has taken, since the last write;
    /// they have no registration any more.
    public var deadSlots: Set<String>
    public var createdAt: Timestamp
    public var updatedAt: Timestamp

    public init(
        id: String, document: [UInt8], version: Int64, expiresAt: Timestamp?, handles: [String: PushHandle],
        deadSlots: Set<String>, createdAt: Timestamp, updatedAt: Timestamp
    ) {
        self.id = id
        self.document = document
        self.version = version
        self.expiresAt = expiresAt
        self.handles = handles
        self.deadSlots = deadSlots
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}

/// Keeps installations. Every write is durable when it returns. A device store is one of these as well, because both
/// are one audience.
public protocol InstallationStore: Sendable {
    /// Does one write. Conditions: `none` creates or replaces, `exists` and `version` want one to be there.
    /// - Returns: The installation as it is stored now (as it was, for a delete), or why nothing was changed
    ///   (`notFound` or `versionMismatch`).
    func apply(
        _ change: InstallationChange, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Result<InstallationRecord, RegistrationRefusal>

    /// The installation of an id, or nil where there is none or it has expired.
    func installation(_ id: String, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> InstallationRecord?
}
