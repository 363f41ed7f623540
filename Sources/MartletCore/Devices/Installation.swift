public import MartletModel

/// A write to one installation. All its registrations are written in the same transaction.
public enum InstallationChange: Sendable {
    /// Creates or replaces the installation.
    case put(InstallationDraft, condition: WriteCondition)
    /// Deletes the installation with its registrations. The registrations leave no tombstones. Tombstones are not
    /// needed, because no caller has received the ids of these registrations.
    case delete(id: String, condition: WriteCondition)
}

/// An installation as its device describes it, with the registrations that follow from the description.
public struct InstallationDraft: Sendable {
    public var id: String
    /// The JSON document of the installation as the device wrote it. It contains the handles that were current at that
    /// time; the handles that are current now are in `InstallationRecord`.
    public var document: [UInt8]
    /// When the installation and all its rows expire; nil if they never expire. The expiry in the registration drafts
    /// of the rows is ignored.
    public var expiresAt: Timestamp?
    /// The registrations of the installation. Rows with the same handle do not remove each other, even if their drafts
    /// take over the handle (`RegistrationDraft.takesHandle`).
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
    /// Identifies the row within its installation (`InstallationSlot`). A later write with the same slot changes the
    /// registration instead of creating another registration.
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
    /// How often the installation was written, from 1.
    public var version: Int64
    public var expiresAt: Timestamp?
    /// The current handles of the installation's registrations, keyed by slot (`InstallationRow.slot`). A handle may
    /// differ from the document, because a push service may have replaced it since the last write.
    public var handles: [String: PushHandle]
    /// The slots that have lost their registration since the last write. A slot loses its registration when a push
    /// service reports the handle as gone, or when another registration takes the handle.
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

/// Stores installations. Every write is durable when the call returns. Every device store is also an installation
/// store, because registrations of installations are in the same audiences as all other registrations.
public protocol InstallationStore: Sendable {
    /// Applies one write. The condition `none` creates or replaces an installation. `absent` only creates an
    /// installation. `exists` and `version` require an existing installation.
    /// - Returns: On success, the installation as it is stored now or, for a delete, as it was before. On refusal, the
    ///   reason why nothing was changed (`notFound` or `versionMismatch`).
    func apply(
        _ change: InstallationChange, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Result<InstallationRecord, RegistrationRefusal>

    /// Returns the installation with an id; nil if it does not exist or has expired.
    func installation(_ id: String, in hub: Hub.ID, at now: Timestamp) async throws(StorageError) -> InstallationRecord?
}
