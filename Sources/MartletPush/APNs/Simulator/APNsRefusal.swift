import MartletHTTP
import MartletModel

/// An answer of the service other than 200 (PushServices.md, sections 1.8 and 1.9).
struct APNsRefusal: Error, Equatable {
    var status: HTTPStatus
    var reason: String
    /// The time since which the token has been invalid, for status 410.
    var timestamp: Timestamp?
    /// The actions on the request's connection, which are performed before the answer is sent.
    var steps: [ConnectionStep] = []

    init(_ status: HTTPStatus, _ reason: String, timestamp: Timestamp? = nil, steps: [ConnectionStep] = []) {
        self.status = status
        self.reason = reason
        self.timestamp = timestamp
        self.steps = steps
    }

    func response(id: String) -> HTTPResponse {
        var body: [String: JSON] = ["reason": .string(reason)]
        if let timestamp { body["timestamp"] = .integer(timestamp.milliseconds) }
        return HTTPResponse(
            status, fields: ["apns-id": id, "content-type": "application/json"],
            body: .bytes(JSON.object(body).bytes))
    }
}
