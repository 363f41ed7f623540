import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenIDConnect

/// A refusal of the backend: a stable number, a status, and a sentence for a person.
struct BackendError: Error, Hashable, Sendable {
    /// The number of the error: the status code followed by two digits.
    let number: Int
    let sentence: String
    /// The wait in seconds before the request may be repeated; nil if the answer states none.
    var retryAfter: Int64?
    /// Further members of the answer, for use by programs.
    var details: [String: JSON] = [:]

    var status: HTTPStatus { HTTPStatus(number / 100) }

    init(_ number: Int, _ sentence: String, retryAfter: Int64? = nil) {
        self.number = number
        self.sentence = sentence
        self.retryAfter = retryAfter
    }
}

extension BackendError {
    static let badTarget = BackendError(40000, "The address of the request is malformed.")
    static func badBody(_ sentence: String) -> BackendError { BackendError(40001, sentence) }
    static func badUserName(_ sentence: String) -> BackendError { BackendError(40002, sentence) }
    static func badHandle(_ sentence: String) -> BackendError { BackendError(40003, sentence) }
    static func badTag(_ sentence: String) -> BackendError { BackendError(40004, sentence) }
    static func badPlatform(_ sentence: String) -> BackendError { BackendError(40005, sentence) }
    static func badMessage(_ sentence: String) -> BackendError { BackendError(40006, sentence) }
    static let controlCharacters = badMessage(
        "The message must not have control characters other than tabs and line breaks.")
    static func badParameters(_ sentence: String) -> BackendError { BackendError(40007, sentence) }
    static let noSession = BackendError(
        40008, "Only a session can be ended: send its token as 'Authorization: Bearer TOKEN'.")

    static let noCredentials = BackendError(
        40100, "Log in: send 'Authorization: Basic' with user and password, or 'Bearer' with a token.")
    static let badCredentials = BackendError(40101, "The user name or the password is wrong.")
    static let badSession = BackendError(40102, "The session has ended or never was; log in again.")
    static func badToken(_ sentence: String) -> BackendError { BackendError(40103, sentence) }

    static func noUser(_ sentence: String) -> BackendError { BackendError(40301, sentence) }

    static let notAllowed = BackendError(40300, "You may not send to whom the request names.")

    static let crossSite = BackendError(
        40302, "A page of another site may not make a browser ask this; only pages of this server may.")
    /// Returns the refusal of a message because it sets a member that only admins may set.
    /// - Parameter member: The name of the member of the message.
    static func onlyAdmins(maySet member: String) -> BackendError {
        BackendError(40304, "Only admins may set \(member).")
    }
    static let clearTextAtProxy = BackendError(
        40303, "This request came to the proxy in clear text: passwords and tokens need https.")
    static let notJSON = BackendError(41502, "Send the body as JSON, with 'Content-Type: application/json'.")

    static let notFound = BackendError(40400, "There is nothing at this address.")
    static func tooManyDevices(_ limit: Int) -> BackendError {
        BackendError(
            40305, "You have \(limit) devices, the most that a user may have; remove one, then register this one.")
    }
    static let noRegistration = BackendError(40401, "You have no registration of this id.")
    static func badKey(_ sentence: String) -> BackendError { BackendError(40013, sentence) }
    /// Returns the refusal of ciphertexts that their devices cannot decrypt, because the devices now have different
    /// keys.
    static func staleKeys(of devices: [String]) -> BackendError {
        var error = BackendError(
            40900,
            "The message was not encrypted with the present keys of these devices. Get the keys again and encrypt it "
                + "anew. Nothing was sent.")
        error.details = ["devices": .array(devices.map(JSON.string))]
        return error
    }
    static let methodNotAllowed = BackendError(40500, "This address does not answer the method.")
    static let registrationGone = BackendError(
        41000, "The registration is gone; ask for a new id with POST /api/register and register with that.")
    static func messageTooLarge(_ sentence: String) -> BackendError { BackendError(41300, sentence) }
    static let badIdempotencyKey = BackendError(
        40014, "Idempotency-Key must be 1 to 255 visible ASCII characters, once.")
    static let keyReused = BackendError(
        42200, "The Idempotency-Key was used for another request; every new request needs a new key.")
    static func tooManyAttempts(retryAfter: Int64) -> BackendError {
        BackendError(42900, "Too many failed log-ins; wait before the next.", retryAfter: retryAfter)
    }

    static func tooManyRequests(retryAfter: Int) -> BackendError {
        BackendError(
            42902, "You make too many requests; wait before the next.", retryAfter: Int64(retryAfter))
    }
    static func tooManyRegistrations(retryAfter: Int) -> BackendError {
        BackendError(
            42904, "Your devices are registered anew too often; wait before the next time.",
            retryAfter: Int64(retryAfter))
    }
    static func backlogged(_ excess: BacklogExcess) -> BackendError {
        BackendError(42903, excess.sentence + ".", retryAfter: Int64(BacklogExcess.retryAfter))
    }

    static let noHub = BackendError(50300, "There is no hub to send through yet: create one on the server.")
    static let manyHubs = BackendError(
        50301,
        "There are several hubs, and the app backend has none of them: name one with 'martlet serve --backend-hub NAME'."
    )
    static let deletedHub = BackendError(
        50306, "The hub of the app backend was deleted: name another one with 'martlet serve --backend-hub NAME'.")
    static func missingHub(_ name: String) -> BackendError {
        BackendError(
            50302,
            "There is no hub '\(name)', which 'martlet serve --backend-hub' names for the app backend: create it, or "
                + "name another one.")
    }
    static let busy = BackendError(50303, "Too many log-ins at the same time; try again in a moment.", retryAfter: 1)
    static let storage = BackendError(50304, "The server cannot read or write its data now.", retryAfter: 5)
    static func noIdentityProvider(retryAfter: Int64) -> BackendError {
        BackendError(
            50305, "The identity provider does not answer, so tokens cannot be checked.", retryAfter: retryAfter)
    }
    static let storageFull = BackendError(50700, "The server has no room left for new data.", retryAfter: 60)

    /// Whether the error refuses the token that the request carries, because the token is not valid (RFC 6750, section
    /// 3.1).
    var isOfToken: Bool { [Self.badSession.number, Self.badToken("").number].contains(number) }

    init(_ error: StorageError) {
        self = error.kind == .full ? .storageFull : .storage
    }

    init(_ refusal: TokenRefusal) {
        self =
            switch refusal {
            case .noUser, .unverifiedAddress: .noUser(refusal.sentence)
            default: .badToken(refusal.sentence)
            }
    }
}
