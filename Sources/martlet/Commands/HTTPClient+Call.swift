import MartletHTTP
import MartletNetwork
import MartletServer

extension HTTPClient {
    /// Sends one request of a command. The time limit is half a minute.
    /// - Throws: `ServerError` that says what to do if there is no answer.
    // Not `throws(ServerError)`: the optimizer of Swift 6.3.1 crashes if it inlines such a function into a caller that
    // throws any error.
    func call(
        _ request: HTTPRequest, to origin: HTTPOrigin, _ settings: TransportSettings
    ) async throws -> HTTPResponse {
        do throws(TransportError) {
            return try await send(request, to: origin, settings: settings, before: .now + .seconds(30))
        } catch {
            switch error.kind {
            case .insecure:
                throw ServerError("\(origin) is not trusted: \(error.detail). --ca-file names an authority to trust.")
            case .unreachable, .unresolved:
                throw ServerError("\(origin) cannot be reached: \(error.detail). Is the server running there?")
            default:
                throw ServerError("\(origin) gave no answer: \(error.detail).")
            }
        }
    }
}
