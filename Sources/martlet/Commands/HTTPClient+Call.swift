import MartletHTTP
import MartletNetwork
import MartletServer

extension HTTPClient {
    /// Sends one request of a command. The time limit is half a minute.
    /// - Throws: `ServerError` that says what to do if there is no answer.
    // The function is not `throws(ServerError)`, because the optimizer of Swift 6.3.1 crashes if it inlines such a
    // function into a caller that throws any error.
    func call(
        _ request: HTTPRequest, to origin: HTTPOrigin, _ settings: TransportSettings
    ) async throws -> HTTPResponse {
        do throws(TransportError) {
            return try await send(request, to: origin, settings: settings, before: .now + .seconds(30))
        } catch {
            throw ServerError(error, at: origin)
        }
    }
}

extension ServerError {
    /// Creates the error for a server that gave no answer. The message says what to do, if that is known.
    init(_ error: TransportError, at origin: HTTPOrigin) {
        switch error.kind {
        case .insecure:
            self.init("\(origin) is not trusted: \(error.detail). --ca-file names an authority to trust.")
        case .unreachable, .unresolved:
            self.init("\(origin) cannot be reached: \(error.detail). Is the server running there?")
        default:
            self.init("\(origin) gave no answer: \(error.detail).")
        }
    }
}
