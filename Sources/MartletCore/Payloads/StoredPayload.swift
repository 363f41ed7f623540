public import MartletModel

/// Content that stays here while pushes carry only its id, for its addressees to fetch.
public struct StoredPayload: Sendable {
    /// What the content is, and so how it is given.
    public enum Kind: String, Hashable, Sendable {
        /// Of any media type, given as it is.
        case rich
        /// A text that no push service is to see.
        case secure
        /// What only a device can read.
        case encrypted
    }

    /// Where the content is.
    public enum Content: Hashable, Sendable {
        /// With the record, sealed.
        case text([UInt8])
        /// In a file of `PayloadBodies`; the size is in bytes.
        case body(name: String, size: Int64)

        /// In bytes.
        public var size: Int64 {
            switch self {
            case .text(let bytes): Int64(bytes.count)
            case .body(_, let size): size
            }
        }

        /// What counts against a sender's quota, in bytes.
        public var countedSize: Int64 { min(size, .max - recordSize) + recordSize }
    }

    /// What each payload counts against a quota besides its content, in bytes: so there is an end of empty ones, too.
    public static let recordSize: Int64 = 1024

    public let id: PayloadID
    public let kind: Kind
    /// The folded name of the user who sent it.
    public let sender: String
    /// A short word of the sender's, such as `img`.
    public let type: String
    public let contentType: String
    /// What is shown before it is fetched.
    public let message: String
    public let content: Content
    /// Whether each addressee can read it once only.
    public let isOnce: Bool
    /// The id of the registration that it is for; nil: every device of an addressee.
    public let device: String?
    public let createdAt: Timestamp
    /// From then on it is as if it had never been.
    public let expiresAt: Timestamp

    public init(id: PayloadID, _ draft: PayloadDraft) {
        self.id = id
        kind = draft.kind
        sender = draft.sender
        type = draft.type
        contentType = draft.contentType
        message = draft.message
        content = draft.content
        isOnce = draft.isOnce
        device = draft.device
        createdAt = draft.createdAt
        expiresAt = draft.expiresAt
    }
}

/// A payload before the store has it.
public struct PayloadDraft: Sendable {
    public var kind: StoredPayload.Kind
    /// A folded name.
    public var sender: String
    public var type: String
    public var contentType: String
    public var message: String
    public var content: StoredPayload.Content
    public var isOnce: Bool
    public var device: String?
    public var createdAt: Timestamp
    public var expiresAt: Timestamp

    public init(
        kind: StoredPayload.Kind, sender: String, type: String = "", contentType: String = "", message: String = "",
        content: StoredPayload.Content, isOnce: Bool = false, device: String? = nil, createdAt: Timestamp,
        expiresAt: Timestamp
    ) {
        self.kind = kind
        self.sender = sender
        self.type = type
        self.contentType = contentType
        self.message = message
        self.content = content
        self.isOnce = isOnce
        self.device = device
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }
}

/// A payload as one of its addressees sees it.
public struct AddressedPayload: Sendable {
    public let payload: StoredPayload
    /// When this user had read it first, before now; nil: never.
    public let readAt: Timestamp?

    public init(payload: StoredPayload, readAt: Timestamp?) {
        self.payload = payload
        self.readAt = readAt
    }
}
