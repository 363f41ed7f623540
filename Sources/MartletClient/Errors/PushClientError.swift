/// The reason why the client could not do what the app asked for.
///
/// `kind` tells the app what to do; `message` is a text for a person. Neither contains passwords or device tokens.
public struct PushClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error, which determines what the app can do about it.
    public enum Kind: Hashable, Sendable {
        /// The server's address is malformed.
        case badServer
        /// With this server address, passwords would be sent in clear text.
        case insecureServer
        /// No user is logged in, or the log-in has ended: show the log-in screen, then call `logIn`.
        case logInNeeded
        /// The system has not provided a device token yet.
        case tokenNeeded
        /// The user name or the password is wrong: let the user type them again.
        case wrongPassword
        /// Too many failed log-ins, or too many requests: wait, then let the user try again.
        case tooManyAttempts(retryAfter: Duration)
        /// The message is longer than the push service accepts, or the content is larger than the server accepts;
        /// nothing was sent.
        case messageTooLong
        /// The content was not found: it has expired, was already read, or is for another user.
        case notFound
        /// The content is larger than the limit for content in memory.
        case contentTooLong
        /// The server refused the request with this status; repeating it will not help.
        case refused(status: Int)
        /// The server failed with this status. Try again later.
        case serverProblem(status: Int)
        /// The server cannot be reached, or has not answered. Try again later.
        case unreachable
        /// The connection to the server is not secure; nothing was sent.
        case insecureConnection
        /// A later call of `register` or `unregister`, or of `logIn` or `logOut`, replaced this call. For example, a
        /// request that was made for one user is not carried out after the user has changed.
        case superseded
        /// A device of the recipient has a key that is not pinned; nothing was sent. Show the fingerprints, then call
        /// `PushClient.trust(_:)`, or do not send.
        case keysChanged(UserKeys)
        /// The recipient has no device with a key, or this device has no key.
        case noKey
        /// An encrypted message could not be created or read, for this reason.
        case encryptionFailed(MessageCodingError)
        /// Keys, pins, or a file to be sent or fetched could not be read or written on this device.
        case storageProblem
        /// The client was made without `EndToEndEncryption`.
        case encryptionNotSetUp
        /// The task was cancelled.
        case cancelled
    }

    /// The kind of error, which determines what the app can do about it.
    public let kind: Kind
    /// A message for a person; the server's own message if it sent one.
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
    /// Whether the same request may succeed later, although the app changes nothing. For example, an insecure
    /// connection may come from a hotel network whose guests must log in first, and a locked keychain may be unlocked.
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
