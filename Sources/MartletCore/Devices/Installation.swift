public import MartletModel

/// A write to one installation, with all its registrations in the same transaction.
public enum InstallationChange: Sendable {
    /// Creates or replaces the installation.
    case put(InstallationDraft, condition: WriteCondition)
    /// Deletes the installation with its registrations. The registrations leave no tombstones: no caller has received
    /// their ids, so no caller could write to them.
    case delete(id: String, condition: WriteCondition)
}

/// An installation as described by its device, with the resulting registrations.
public struct InstallationDraft: Sendable {
    public var id: String
    /// The JSON document of the installation as the device wrote it, with the handles of that time. The current handles
    /// are in `InstallationRecord`.
    public var document: [UInt8]
    /// The time when the installation and all its rows expire; nil if they never expire. The expiry in the drafts of
    /// the rows is ignored.
    public var expiresAt: Timestamp?
    /// The registrations of the installation. Rows with the same handle do not remove each other, even if they take the
    /// handle (`RegistrationDraft.takesHandle`).
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
    /// The slot that identifies the row within its installation, such as the slot of the native row or of a template. A
    /// later write with the same slot changes the registration instead of creating another one.
    public var slot: String
    public var registration: RegistrationDraft

    public init(slot: String, registration: RegistrationDraft) {
        self.slot = slot
        self.registration = registration
    }
}

/// An installation as it is stored, with the current handles of its registrations.
public struct InstallationRecord: Sendable {
    public let id: String
    public var document: [UInt8]
    /// The number of writes, from 1.
    public var version: Int64
    public var expiresAt: Timestamp?
    /// The current handles of the installation's registrations, keyed by slot (`InstallationRow.slot`). A push service
    /// may have replaced a handle since the last write.
    public var handles: [String: PushHandle]
    /// The slots that have lost their registration since the last write, because a push service has reported the handle
    /// as gone or another registration has taken the handle.
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

/// Stores installations. Every write is durable when it returns. Every device store is also an installation store,
/// because the registrations of installations are in the same audiences as all others.
public protocol InstallationStore: Sendable {
    /// Applies one write. The condition `none` creates or replaces an installation; `absent` only creates one; `exists`
    /// and `version` require an existing installation.
    /// - Returns: The installation as it is stored now (for a delete, as it was before), or the reason why nothing was
    ///   changed (`notFound` or `versionMismatch`).
    func apply(
        _ change: InstallationChange, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Result<InstallationRecord, RegistrationRefusal>

    /// Returns the installation with an id; nil if it does not exist or has expired.
    func installation(_ id: String, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> InstallationRecord?
}
