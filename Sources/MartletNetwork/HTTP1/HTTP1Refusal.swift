import MartletHTTP

/// The refusal of a request that the HTTP/1.1 server answers without a handler, with a status and a sentence for the
/// client. `HTTP1Client` uses it too, as the error for a response that cannot be parsed.
struct HTTP1Refusal: Error, Hashable {
    let status: HTTPStatus
    let sentence: String
    /// The value of `Retry-After`, in seconds.
    var retryAfter: Int?

    init(_ status: HTTPStatus, _ sentence: String) {
        self.status = status
        self.sentence = sentence
    }

    static func malformed(_ sentence: String) -> HTTP1Refusal {
        HTTP1Refusal(.badRequest, sentence)
    }

    init(_ refusal: HeadScanner.Refusal) {
        switch refusal {
        case .malformed(let sentence): self = .malformed("The request cannot be read: \(sentence).")
        case .startLineTooLong: self.init(414, "The address of the request is too long.")
        case .fieldsTooLarge: self.init(.headerFieldsTooLarge, "The header fields are too many or too long.")
        }
    }

    init(_ failure: HTTP1Parser.Failure) {
        switch failure {
        case .unknownMethod: self.init(501, "The method is not known here.")
        case .malformed(let reason): self = .malformed("The request cannot be read: \(reason).")
        }
    }

    static let timeout = HTTP1Refusal(.requestTimeout, "The request took too long to arrive.")
    static let overloaded: HTTP1Refusal = {
        var refusal = HTTP1Refusal(.serviceUnavailable, "The server has no memory left for the body now: try again.")
        refusal.retryAfter = BodyLimits.retryAfter
        return refusal
    }()
    static func tooLarge(limit: Int) -> HTTP1Refusal {
        HTTP1Refusal(
            .contentTooLarge,
            limit > 0 ? "The body of the request is larger than is taken here." : "This request takes no body.")
    }

    var response: HTTPResponse {
        var fields: HTTPFields = ["content-type": "text/plain; charset=utf-8"]
        if let retryAfter { fields["retry-after"] = String(retryAfter) }
        return HTTPResponse(status, fields: fields, body: .bytes(Array((sentence + "\n").utf8)))
    }
}
