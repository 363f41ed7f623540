import MartletHTTP
import MartletModel

extension HTTPResponse {
    init(_ status: HTTPStatus, json: JSON) {
        self.init(status, fields: ["content-type": "application/json; charset=utf-8"], body: .bytes(json.bytes))
    }

    /// The error as JSON, with the fields that its status calls for.
    init(_ error: BackendError) {
        self.init(error.status, json: ["code": .integer(Int64(error.number)), "message": .string(error.sentence)])
        fields["cache-control"] = "no-store"
        if let seconds = error.retryAfter { fields["retry-after"] = String(seconds) }
        guard error.status == .unauthorized else { return }
        fields.append(HTTPField("www-authenticate", #"Basic realm="martlet", charset="UTF-8""#))
        let detail = error.isOfToken ? #", error="invalid_token", error_description="\#(error.sentence)""# : ""
        fields.append(HTTPField("www-authenticate", #"Bearer realm="martlet""# + detail))
    }
}
