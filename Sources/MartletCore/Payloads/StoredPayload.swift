public import MartletModel

/// Content that stays on the server until its addressees fetch it, while pushes carry only its id.
public struct StoredPayload: Sendable {
    /// The kind of the content, which determines how it is served.
    public enum Kind: String, Hashable, Sendable {
        /// Content of any media type, served unchanged.
        case rich
        /// A text that no push service sees.
        case secure
        /// A text that only a device can read.
        case encrypted
    }

    /// The place where the content is stored.
    public enum Content: Hashable, Sendable {
        /// A text, which is stored encrypted in the record of the payload.
        case text([UInt8])
        /// A file of `PayloadBodies`, with its size in bytes.
        case body(name: String, size: Int64)

        /// The size of the content, in bytes.
        public var size: Int64 {
            switch self {
            case .text(let bytes): Int64(bytes.count)
            case .body(_, let size): size
            }
        }

        /// The size that counts against a sender's quota, in bytes.
        public var countedSize: Int64 { min(size, .max - recordSize) + recordSize }
    }

    /// The number of bytes that each payload counts in addition to its content, so that the number of empty payloads is
    /// limited as well.
    public static let recordSize: Int64 = 1024

    public let id: PayloadID
    public let kind: Kind
    /// The name, in lower case, of the user who sent the payload.
    public let sender: String
    /// A short word chosen by the sender, such as `img`.
    public let type: String
    public let contentType: String
    /// The text that is shown before the content is fetched.
    public let message: String
    public let content: Content
    /// True if each addressee can read the payload only once.
    public let isOnce: Bool
    /// The id of the registration that the payload is for; nil if it is for all devices of the addressees.
    public let device: String?
    public let createdAt: Timestamp
    /// The time when the payload expires. From then on, the server behaves as if the payload had never existed.
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

/// A payload that is not stored yet.
public struct PayloadDraft: Sendable {
    public var kind: StoredPayload.Kind
    /// The name, in lower case, of the user who sends the payload.
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
    /// The time when this user first read the payload, not counting the current read; nil if never.
    public let readAt: Timestamp?

    public init(payload: StoredPayload, readAt: Timestamp?) {
        self.payload = payload
        self.readAt = readAt
    }
}
