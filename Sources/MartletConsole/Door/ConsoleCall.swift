import MartletCore
import MartletHTTP
import MartletModel

/// A request to the console's API that the gate has admitted.
struct ConsoleCall: Sendable {
    var request: HTTPRequest
    let match: RouteMatch
    /// The session of the request, with its operator in `entry`; nil on routes that need no session.
    let session: OperatorSession?
    let entry: Operator?
    /// The role by which the request was admitted; nil if no role was needed.
    let role: Role?
    let now: Timestamp

    /// The hub that the path names; nil if it names none.
    var hub: String? { match["hub"].isEmpty ? nil : match["hub"] }

    /// Returns the session of the request and its operator.
    /// - Throws: `ConsoleRefusal.signedOut` if there is no session, which is possible only on a route that needs none.
    func signedIn() throws(ConsoleRefusal) -> (session: OperatorSession, entry: Operator) {
        guard let session, let entry else { throw .signedOut }
        return (session, entry)
    }

    /// Returns the body as a JSON object.
    ///
    /// An empty body counts as an empty object.
    func body() throws(ConsoleRefusal) -> [String: JSON] {
        if request.body.isEmpty { return [:] }
        guard let members = try? JSON(parsing: request.body).object else {
            throw .badRequest("The body is not a JSON object.")
        }
        return members
    }

    /// Whether the caller requests content that is otherwise withheld (`?content=show`).
    var asksForContent: Bool { match.target.item("content")?.value == "show" }
}
