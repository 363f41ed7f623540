import MartletHTTP
import MartletModel
import MartletServer

/// Reads the answers of the administration API.
enum AdministrationAnswer {
    /// Returns the document of a successful answer; `.null` if the answer is empty.
    /// - Throws: `ServerError` with the sentence of a refusal, or with the status if the server gives no sentence.
    static func document(of response: HTTPResponse) throws(ServerError) -> JSON {
        let bytes = response.bytes
        let document = bytes.isEmpty ? JSON.null : try? JSON(parsing: bytes)
        guard response.status.isSuccess else { throw ServerError(document?["error"]?.string ?? refusal(response)) }
        guard let document else {
            throw ServerError(
                "The server answered \(response.status.code), but not with JSON: is it a server of another version?")
        }
        return document
    }

    private static func refusal(_ response: HTTPResponse) -> String {
        let answer = "The server answered \(response.status.code)"
        guard response.status == .contentTooLarge else { return answer + "." }
        return answer + ": the request is larger than it takes."
    }
}
