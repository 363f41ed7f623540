/// Why the client could not do what it was asked to.
///
/// `kind` tells the app what to do, `message` is a sentence for a person. Neither holds passwords or device tokens.
public struct PushClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the app can do about it.
    public enum Kind: Hashable, Sendable {
        /// The server's address is malformed.
        case badServer
        /// The server's address would send passwords in the clear.
        case insecureServer
        /// Nobody is logged in, or not any more: show the log-in screen, then call `logIn`.
        case logInNeeded
        /// The system has given no device token yet.
        case tokenNeeded
        /// User name or password are wrong: let the user type them again.
        case wrongPassword
        /// Too many failed log-ins, or too many requests: wait, then let the user try again.
        case tooManyAttempts(retryAfter: Duration)
        /// The message is longer than the push service takes, or the content larger than the server; nothing was sent.
        case messageTooLong
        /// What was to be fetched is not there: it has expired, was read once, or is for somebody else.
        case notFound
        /// The content is larger than the memory it was to be fetched into may get.
        case contentTooLong
        /// The server refused what was asked, with this status; asking again will not help.
        case refused(status: Int)
        /// The server has a problem of its own, with this status. Try again later.
        case serverProblem(status: Int)
        /// The server cannot be reached, or has not answered. Try again later.
        case unreachable
        /// The connection to the server is not secure; nothing was sent.
        case insecureConnection
        /// A later call took this one's place: of `register` or `unregister`, of `logIn` or `logOut`. What was asked for one
        /// user is not done for another.
        case superseded
        /// A device of the recipient has a key that is not pinned; nothing was sent. Show the fingerprints, then call
        /// `PushClient.trust(_:)` or do not send.
        case keysChanged(UserKeys)
        /// The recipient has no device with a key; or this device has none.
        case noKey
        /// An encrypted message cannot be made or read, for this reason.
        case encryptionFailed(MessageCodingError)
        /// Keys, pins or a file cannot be kept on this device, or not be read.
        case storageProblem
        /// The client was made without `EndToEndEncryption`.
        case encryptionNotSetUp
        /// The task was cancelled.
        case cancelled
    }

    /// What the app can do about it.
    public let kind: Kind
    /// A sentence for a person; the server's own where it gave one.
    public let message: String
    private let form = AddressOnly()

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    public var description: String { message }

    static let logInNeeded = PushClientError(.logInNeeded, "Log in to go on.")
    static let tokenNeeded = PushClientError(.tokenNeeded, "The system has given no device token yet.")
    static let cancelled = PushClientError(.cancelled, "Cancelled.")
    static let superseded = PushClientError(.superseded, "Something later took this one's place.")
}

extension PushClientError {
    /// Whether the same may go well at another time, without anybody's doing anything about it here. A connection that
    /// is not secure may be that of a hotel that wants its guests to log in first; a keychain may be locked.
    var mayPass: Bool {
        switch kind {
        case .unreachable, .insecureConnection, .serverProblem, .tooManyAttempts, .storageProblem: true
        default: false
        }
    }

    private static let untrusted =
        "The server could not prove that it is the right one: this device does not trust its certificate, or the "
        + "certificate is for another name."

    init(_ error: ClientTransportError) {
        switch error.kind {
        case .unreachable: self.init(.unreachable, "The server cannot be reached.")
        case .timedOut: self.init(.unreachable, "The server did not answer in time.")
        case .insecure: self.init(.insecureConnection, Self.untrusted)
        case .unreadable: self.init(.storageProblem, "The file that is to be sent cannot be read.")
        case .cancelled: self = .cancelled
        }
    }
}

extension PushClientError {
    init(_ problem: StorageProblem) {
        self.init(.storageProblem, problem.description)
    }

    init(_ error: MessageCodingError) {
        self.init(.encryptionFailed(error), error.description)
    }
}
