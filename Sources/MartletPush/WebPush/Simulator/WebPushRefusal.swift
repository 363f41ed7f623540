import MartletHTTP
import MartletModel

/// A reason to refuse a request (PushServices.md, section 10.6). Each vendor's service has its own answer for it.
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
    case tooMany
    case failing(HTTPStatus)
    /// An answer with a reason that no sender knows, to test how senders treat it.
    case unknownReason

    /// The name of the refusal. In `WebPushSimulator.counters`, it has the prefix `refused.`.
    var name: String {
        switch self {
        case .failing(let status): "failing\(status.code)"
        default: "\(self)"
        }
    }

    /// Returns the answer for this refusal.
    /// - Parameters:
    ///   - flavour: The vendor of the service.
    ///   - retryAfter: The value of the `retry-after` field.
    func response(_ flavour: WebPushFlavour, retryAfter: String? = nil) -> HTTPResponse {
        var response =
            switch flavour {
            case .mozilla: mozillaResponse
            case .safari: safariResponse
            case .chromium: chromiumResponse
            // Edge's endpoints belong to WNS, which answers 406 to too many requests. All other answers are those of
            // Chrome's service.
            case .edge: self == .tooMany ? HTTPResponse(406) : chromiumResponse
            }
        if let retryAfter { response.fields["retry-after"] = retryAfter }
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
            case .failing(.serviceUnavailable): (.serviceUnavailable, 201)
            case .failing(let status): (status, 999)
            case .unknownReason: (418, 4711)
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
            case .failing(let status):
                (status, status == .serviceUnavailable ? "ServiceUnavailable" : "InternalServerError")
            case .unknownReason: (.badRequest, "NothingYouKnow")
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
            case .failing(let status): (status, "try again later")
            case .unknownReason: (418, "nothing you know")
            }
        return HTTPResponse(status, fields: ["content-type": "text/plain"], body: .bytes(Array(text.utf8)))
    }
}
