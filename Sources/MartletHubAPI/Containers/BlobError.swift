import MartletCore
import MartletHTTP

/// An error answer to a request for a container or blob, in the format of Azure's blob service: a sentence, and a code
/// that clients of that service know.
struct BlobError: Error, Hashable {
    let status: HTTPStatus
    let code: String
    let sentence: String

    init(_ status: HTTPStatus, _ code: String, _ sentence: String) {
        self.status = status
        self.code = code
        self.sentence = sentence
    }

    static let notSigned = BlobError(
        .forbidden, "AuthenticationFailed", "The URL has no complete signature: sr, sp, se and sig belong to it.")
    /// Creates the error for a query item that occurs more than once.
    /// - Parameter name: The name of the query item.
    static func signedTwice(_ name: String) -> BlobError {
        BlobError(
            .forbidden, "AuthenticationFailed", "The URL has the parameter \(name) twice; a signature has it once.")
    }
    static let badSignature = BlobError(
        .forbidden, "AuthenticationFailed", "The signature of the URL is not one that this server made for this path.")
    static let expired = BlobError(.forbidden, "AuthenticationFailed", "The signature of the URL has expired.")
    static let notAllowed = BlobError(
        .forbidden, "AuthorizationPermissionMismatch", "The signature of the URL does not allow this operation.")
    static let badTarget = BlobError(.badRequest, "InvalidUri", "The path or query is not a valid URL (RFC 3986).")
    static let badContainerName = BlobError(.badRequest, "InvalidResourceName", ContainerName.rule)
    static let badBlobName = BlobError(.badRequest, "InvalidResourceName", BlobName.rule)
    static let noBlob = BlobError(.notFound, "BlobNotFound", "There is no such blob.")
    static let noContainer = BlobError(.notFound, "ContainerNotFound", "There is no such container.")
    static let methodNotAllowed = BlobError(
        .methodNotAllowed, "UnsupportedHttpVerb", "This server's containers do not serve this method.")
    static let blobExists = BlobError(.conflict, "BlobAlreadyExists", "There is a blob of this name already.")
    static let changed = BlobError(.preconditionFailed, "ConditionNotMet", "The blob has another entity tag.")
    static let outOfRange = BlobError(416, "InvalidRange", "The range lies outside of the blob.")
    static let noBlock = BlobError(
        .badRequest, "InvalidBlockList", "A block of the list was not uploaded, or the list names it otherwise.")
    static let nameTaken = BlobError(
        .conflict, "BlobNameConflict", "A blob's name followed by a slash cannot begin another blob's name here.")
    static let badBlockID = BlobError(
        .badRequest, "InvalidQueryParameterValue", "The blockid must be Base64 of 1 to 64 bytes.")
    static let badBlockList = BlobError(
        .badRequest, "InvalidXmlDocument", "The block list is no XML document of up to 50000 blocks.")
    static let badPageSize = BlobError(
        .badRequest, "OutOfRangeQueryParameterValue", "The value of maxresults is no positive number.")
    static let badBlobType = BlobError(
        .badRequest, "InvalidHeaderValue", "The header x-ms-blob-type must be BlockBlob; no other kind is kept here.")
    static let bodyCut = BlobError(.badRequest, "IncompleteBody", "The body did not come to its end.")
    static let tooLarge = BlobError(.contentTooLarge, "RequestBodyTooLarge", "The body is larger than is allowed.")

    static let blobTooLarge = BlobError(
        .contentTooLarge, "RequestBodyTooLarge", "A blob has at most 5 GiB; the blocks of the list have more.")

    static let overloaded = BlobError(
        .serviceUnavailable, "ServerBusy", "The server has no memory left for this request now: try again.")

    static func notServed(_ what: String) -> BlobError {
        BlobError(.badRequest, "UnsupportedOperation", "This server's containers do not serve \(what).")
    }

    static func notImplemented(_ feature: UnservedFeature) -> BlobError {
        BlobError(
            501, "NotImplemented",
            "This server's containers do not serve \(feature.name), so nothing was done: \(feature.advice).")
    }

    init(_ error: ContainerError) {
        switch error {
        case .noContainer: self = .noContainer
        case .noBlob: self = .noBlob
        case .noBlock: self = .noBlock
        case .nameTaken: self = .nameTaken
        case .conditionFailed: self = .changed
        case .tooLarge: self = .blobTooLarge
        case .storage(let error) where error.kind == .full:
            self.init(.insufficientStorage, "InsufficientStorage", "The disk has no room left.")
        case .storage:
            self.init(.serviceUnavailable, "ServerBusy", "The storage does not answer at the moment.")
        }
    }

    init(_ error: HTTPBodyError) {
        self =
            switch error {
            case .tooLarge: .tooLarge
            case .overloaded: .overloaded
            case .malformed, .stalled, .disconnected: .bodyCut
            }
    }

    init(_ refusal: HTTPContent.Refusal) {
        self = refusal == .changed ? .changed : .outOfRange
    }

    var response: HTTPResponse {
        var writer = XMLWriter(reserving: 256)
        writer.declaration()
        writer.element("Error") { error in
            error.element("Code", text: code)
            error.element("Message", text: sentence)
        }
        var fields: HTTPFields = ["content-type": "application/xml", "x-ms-error-code": code]
        if self == .overloaded { fields["retry-after"] = "5" }
        return HTTPResponse(status, fields: fields, body: .bytes(writer.bytes))
    }
}

/// The API version of Azure's blob service to which the answers conform.
enum StorageVersion {
    static let current = "2021-08-06"
}
