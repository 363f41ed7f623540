import MartletHTTP
import MartletModel

/// A check that a request has not passed (push services document, section 10.6), and how each service says so.
enum WebPushRefusal: Error, Equatable {
    case method
    case badEndpoint
    case badProof
    case badKey
    case otherKey
    case missingTTL
    case badTTL
    case badUrgency
    case badTopic
    case badContent
    case tooLarge
    /// The subscription was cancelled.
    case gone
    case tooMany(retryAfter: Int)
    case failing(HTTPStatus, retryAfter: Int?)

    /// For counters.
    var name: String {
        switch self {
        case .tooMany: "tooMany"
        case .failing(let status, _): "failing\(status.code)"
        default: "\(self)"
        }
    }

    func response(_ flavour: WebPushFlavour) -> HTTPResponse {
        var response =
            switch flavour {
            case .mozilla: mozillaResponse
            case .safari: safariResponse
            case .chromium: chromiumResponse
            }
        switch self {
        case .tooMany(let seconds), .failing(_, let seconds?): response.fields["retry-after"] = String(seconds)
        default: break
        }
        return response
    }

    private var mozillaResponse: HTTPResponse {
        let (status, errno): (HTTPStatus, Int64) =
            switch self {
            case .method: (.methodNotAllowed, 0)
            case .badEndpoint: (.notFound, 102)
            case .badProof, .badKey, .otherKey: (.unauthorized, 109)
            case .missingTTL: (.badRequest, 111)
            case .badTTL: (.badRequest, 114)
            case .badTopic: (.badRequest, 113)
            case .badUrgency, .badContent: (.badRequest, 110)
            case .tooLarge: (.contentTooLarge, 104)
            case .gone: (.gone, 106)
            case .tooMany: (.tooManyRequests, 0)
            case .failing(let status, _): (status, 201)
            }
        let body: JSON = [
            "code": .integer(Int64(status.code)), "errno": .integer(errno), "error": .string(name),
            "message": .string(name),
        ]
        return HTTPResponse(status, fields: ["content-type": "application/json"], body: .bytes(body.bytes))
    }

    private var safariResponse: HTTPResponse {
        let (status, reason): (HTTPStatus, String) =
            switch self {
            case .method: (.methodNotAllowed, "MethodNotAllowed")
            case .badEndpoint, .badContent: (.badRequest, "BadWebPushRequest")
            case .badProof: (.forbidden, "BadJwtToken")
            case .badKey: (.forbidden, "BadVapidPublicKey")
            case .otherKey: (.forbidden, "VapidPkHashMismatch")
            case .missingTTL, .badTTL: (.badRequest, "BadTtl")
            case .badUrgency: (.badRequest, "BadUrgency")
            case .badTopic: (.badRequest, "BadWebPushTopic")
            case .tooLarge: (.contentTooLarge, "PayloadTooLarge")
            case .gone: (.gone, "Unregistered")
            case .tooMany: (.tooManyRequests, "TooManyRequests")
            case .failing(let status, _):
                (status, status == .serviceUnavailable ? "ServiceUnavailable" : "InternalServerError")
            }
        let body: JSON = ["reason": .string(reason)]
        return HTTPResponse(status, fields: ["content-type": "application/json"], body: .bytes(body.bytes))
    }

    private var chromiumResponse: HTTPResponse {
        let (status, text): (HTTPStatus, String) =
            switch self {
            case .method: (.methodNotAllowed, "method not allowed")
            case .badEndpoint: (.notFound, "A valid push subscription endpoint should be specified in the URL.")
            case .badProof, .badKey: (.forbidden, "invalid JWT provided")
            case .otherKey:
                (
                    .forbidden,
                    "the VAPID credentials in the authorization header do not correspond to the credentials used to "
                        + "create the subscriptions."
                )
            case .missingTTL, .badTTL: (.badRequest, "TTL must be a number of seconds, 0 or more")
            case .badUrgency, .badTopic, .badContent: (.badRequest, "invalid request")
            case .tooLarge: (.contentTooLarge, "payload too large")
            case .gone: (.gone, "push subscription has unsubscribed or expired.")
            case .tooMany: (.tooManyRequests, "too many messages")
            case .failing(let status, _): (status, "try again later")
            }
        return HTTPResponse(status, fields: ["content-type": "text/plain"], body: .bytes(Array(text.utf8)))
    }
}
