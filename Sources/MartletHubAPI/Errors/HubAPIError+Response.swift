import MartletHTTP
import MartletModel

extension HubAPIError {
    /// The name of the header that requests JSON answers if its value is `json`. The header is an extension of Azure's
    /// API. `Accept` does not request JSON, so that a client of Azure Notification Hubs that sends `Accept` still gets
    /// XML.
    static let answerField = "martlet-answer"

    /// The answer to a request that asks for JSON: an object whose only member, `error`, is the sentence.
    var jsonResponse: HTTPResponse {
        var response = HTTPResponse(status, fields: fields)
        guard hasBody else { return response }
        response.fields["content-type"] = "application/json; charset=utf-8"
        response.body = .bytes(JSON.object(["error": .string(sentence + ".")]).bytes)
        return response
    }

    /// Returns the answer in the format that the clients of Azure Notification Hubs can parse: `Code` before `Detail`,
    /// no namespace, no XML declaration (NotificationHubs.md, section 3.1).
    func response(_ tracking: TrackingID, at now: Timestamp) -> HTTPResponse {
        var response = HTTPResponse(status, fields: fields)
        guard hasBody else { return response }
        response.fields["content-type"] = "application/xml; charset=utf-8"
        var writer = XMLWriter(reserving: 256)
        writer.element("Error") { error in
            error.element("Code", text: String(status.code))
            error.element("Detail", text: detail(tracking, at: now))
        }
        response.body = .bytes(writer.bytes)
        return response
    }

    private func detail(_ tracking: TrackingID, at now: Timestamp) -> String {
        let prefix = number.map { "SubCode=\($0). " } ?? ""
        return "\(prefix)\(sentence).TrackingId:\(tracking.text)_G0,TimeStamp:\(now.usText)"
    }
}
