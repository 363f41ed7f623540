import MartletCore
import MartletHTTP

extension BackendError {
    static func badRecipients(_ sentence: String) -> BackendError { BackendError(40009, sentence) }
    static let noSample = BackendError(
        40010,
        "The request says nothing of what to send. Send a file with POST /api/notifications/rich, a secret with POST "
            + "/api/notifications/secure, or a text with POST /api/notifications?pns=PLATFORM&to_tag=USER.")
    static func badForm(_ sentence: String) -> BackendError { BackendError(40011, sentence) }
    static let bodyCut = BackendError(40012, "The body did not come to its end.")
    static let noPayload = BackendError(40402, "You have no notification of this id.")
    static let bodyStalled = BackendError(40800, "The body took too long to arrive.")
    static let payloadChanged = BackendError(41200, "The content has another entity tag.")
    static let overQuota = BackendError(
        41301, "What you have sent and has not expired takes all the room that you have; wait until some expires.")
    static func payloadTooLarge(_ limit: Int64) -> BackendError {
        BackendError(41302, "The payload is too large: it may have \(limit) bytes.")
    }
    static func tooLargeForJSON(_ limit: Int) -> BackendError {
        BackendError(
            41303,
            "As JSON a payload may have \(limit) bytes; send a larger one as multipart/form-data, in a part named file."
        )
    }
    static let badMediaType = BackendError(
        41500, "Send multipart/form-data with the file in a part named file, or application/json.")
    static let encodedBody = BackendError(41501, "The body must come as it is, without a Content-Encoding.")
    static let outOfRange = BackendError(41600, "The range lies outside of the content.")
    static func tooManyMisses(retryAfter: Int64) -> BackendError {
        BackendError(
            42901, "You have asked for too many notifications that you do not have; wait before the next.",
            retryAfter: retryAfter)
    }
    static let overloaded = BackendError(
        50307, "The server has no memory left for this request now; try again in a moment.", retryAfter: 5)
    static let nothingToSendWith = BackendError(
        50308, "The hub has no credential for any push service yet, so nobody can be reached.")

    init(_ error: HTTPBodyError) {
        self =
            switch error {
            case .stalled: .bodyStalled
            case .overloaded: .overloaded
            case .tooLarge, .malformed, .disconnected: .bodyCut
            }
    }

    init(_ error: FormDataError) {
        self =
            switch error {
            case .noBoundary, .malformed, .tooManyParts, .headersTooLarge, .fieldTooLong: .badForm(error.description)
            case .cut: .bodyCut
            case .fileTooLarge(let limit): .payloadTooLarge(limit)
            }
    }

    /// Creates the error answer for a failure of the container store. The container always exists, so only a storage
    /// error is expected; any other error is answered as a storage error.
    init(_ error: ContainerError) {
        guard case .storage(let error) = error else {
            self = .storage
            return
        }
        self.init(error)
    }
}
