import MartletHTTP
import MartletModel

extension HTTPResponse {
    init(_ status: HTTPStatus, json: JSON) {
        self.init(status, fields: ["content-type": "application/json; charset=utf-8"], body: .bytes(json.bytes))
    }

    /// Creates a JSON response that no cache may store.
    init(_ status: HTTPStatus, privateJSON json: JSON) {
        self.init(status, json: json)
        fields["cache-control"] = "no-store"
    }

    /// Creates a JSON response that describes an error, with the header fields that its status requires.
    init(_ error: BackendError) {
        var members = error.details
        members["code"] = .integer(Int64(error.number))
        members["message"] = .string(error.sentence)
        self.init(error.status, privateJSON: .object(members))
        if let seconds = error.retryAfter { fields["retry-after"] = String(seconds) }
        guard error.status == .unauthorized else { return }
        fields.append(HTTPField("www-authenticate", #"Basic realm="martlet", charset="UTF-8""#))
        let detail = error.isOfToken ? #", error="invalid_token", error_description="\#(error.sentence)""# : ""
        fields.append(HTTPField("www-authenticate", #"Bearer realm="martlet""# + detail))
    }
}
