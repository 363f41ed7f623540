import MartletCore
import MartletHTTP
import MartletModel

/// The routes by which operators manage their own second factor.
struct FactorRoutes: Sendable {
    let directory: OperatorDirectory
    let factor: SecondFactor

    private static let bodyLimit = 4096
    /// A change of the factor needs a recent confirmation of the operator's identity: somebody who finds an open
    /// session must not lock the owner out.
    private static let need = RouteNeed(level: .anyRole, isFresh: true)

    var all: [ConsoleRoute] {
        [
            ConsoleRoute(.get, "/session/factor", .anyRole, work: read),
            ConsoleRoute(.post, "/session/factor", Self.need, bodyLimit: Self.bodyLimit, work: begin),
            ConsoleRoute(.post, "/session/factor/confirm", Self.need, bodyLimit: Self.bodyLimit, work: confirm),
            ConsoleRoute(.post, "/session/factor/remove", Self.need, bodyLimit: Self.bodyLimit, work: remove),
        ]
    }

    @Sendable private func read(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let found = try await factor.factor(of: try call.signedIn().entry.name)
        let since = found?.confirmedAt
        return HTTPResponse(
            .ok,
            consoleJSON: [
                "isOn": .bool(since != nil), "since": since.map { .string($0.iso8601) } ?? .null,
                "recoveryCodes": .integer(since == nil ? 0 : Int64(found?.recoveryCodes ?? 0)),
            ])
    }

    @Sendable private func begin(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let (_, entry) = try call.signedIn()
        guard entry.identity == nil else {
            throw .conflict("You sign in by an identity provider: it asks for a second factor, if it should.")
        }
        guard entry.passwordHash != nil else {
            throw .conflict("A second factor is used together with a password: choose a password first.")
        }
        let made = try await factor.begin(entry.name)
        return HTTPResponse(.created, consoleJSON: ["secret": .string(made.text), "uri": .string(made.uri)])
    }

    /// Turns the factor on, and ends the other sessions, which were opened without it.
    @Sendable private func confirm(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let (session, entry) = try call.signedIn()
        let codes = try await factor.confirm(entry.name, code: try code(call))
        do throws(OperatorError) {
            try await directory.endSessions(of: entry.name, except: session.tokenHash)
        } catch {
            throw .busy("The factor is on, but other sessions could not be ended: end them.")
        }
        return HTTPResponse(.ok, consoleJSON: ["recoveryCodes": .array(codes.map(JSON.string))])
    }

    @Sendable private func remove(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let (_, entry) = try call.signedIn()
        try await factor.check(entry.name, code: try code(call))
        do throws(StorageError) {
            _ = try await factor.store.removeFactor(of: entry.name)
        } catch {
            throw ConsoleRefusal(error)
        }
        return HTTPResponse(.noContent)
    }

    private func code(_ call: ConsoleCall) throws(ConsoleRefusal) -> String {
        guard let code = try call.body()["code"]?.string, code.utf8.count <= 64 else {
            throw .badRequest("The body needs the text 'code'.")
        }
        return code
    }
}
