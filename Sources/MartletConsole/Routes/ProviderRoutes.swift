import MartletCore
import MartletHTTP
import MartletModel

/// The console's routes for signing in with an identity provider.
struct ProviderRoutes: Sendable {
    let provider: ProviderSignIn
    let sessions: SessionRoutes
    let failures: FailedSignIns

    private static let bodyLimit = 8192
    private static let lengthLimit = 4096

    var all: [ConsoleRoute] {
        [
            ConsoleRoute(.get, "/sign-in", .nobody) { _ throws(ConsoleRefusal) in
                HTTPResponse(
                    .ok, consoleJSON: ["provider": provider.name.map { ["name": .string($0)] } ?? .null])
            },
            ConsoleRoute(
                .post, "/sign-in/provider", .nobody, bodyLimit: Self.bodyLimit, isAudited: false, work: begin),
            ConsoleRoute(.post, "/sign-in/provider/finish", .nobody, bodyLimit: Self.bodyLimit, work: finish),
        ]
    }

    @Sendable private func begin(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let isFresh = try call.body()["fresh"]?.bool ?? false
        let begun = try await provider.begin(isFresh: isFresh, from: call.request)
        var response = HTTPResponse(.ok, consoleJSON: ["location": .string(begun.location)])
        response.fields["set-cookie"] = ConsoleCookie.signIn.setting(
            begun.token, seconds: ProviderTransaction.lifetime)
        return response
    }

    @Sendable private func finish(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let answer = try Self.answer(try call.body())
        let transaction = try await noting(call) { () async throws(ConsoleRefusal) in
            try provider.transaction(of: answer, from: call.request)
        }
        // From here on, the browser's sign-in counts as used, whether it succeeds or not, and its cookie is removed.
        // For an answer with another `state`, an error was thrown above: that answer does not belong to this sign-in,
        // which stays valid.
        var response: HTTPResponse
        do throws(ConsoleRefusal) {
            let entered = try await noting(call) { () async throws(ConsoleRefusal) in
                try await provider.finish(transaction, answer, from: call.request)
            }
            response = try await sessions.entered(
                entered.session, of: entered.entry, token: entered.token, action: SessionRoutes.byProvider, call)
        } catch {
            response = error.response
        }
        response.fields.append(HTTPField("set-cookie", ConsoleCookie.signIn.removing))
        return response
    }

    private static func answer(_ body: [String: JSON]) throws(ConsoleRefusal) -> ProviderSignIn.Answer {
        guard let state = body["state"]?.string, state.utf8.count <= lengthLimit else {
            throw .badRequest("The body needs the text 'state'.")
        }
        let (code, issuer) = (body["code"]?.string, body["iss"]?.string)
        guard [code, issuer].allSatisfy({ $0?.utf8.count ?? 0 <= lengthLimit }) else { throw .tooLarge }
        return ProviderSignIn.Answer(state: state, code: code, issuer: issuer)
    }

    /// Performs a step of a sign-in, and writes a failure to the audit log.
    private func noting<Value>(
        _ call: ConsoleCall, _ work: () async throws(ConsoleRefusal) -> Value
    ) async throws(ConsoleRefusal) -> Value {
        do throws(ConsoleRefusal) {
            return try await work()
        } catch {
            await failures.note(
                error.operatorName ?? "", SessionRoutes.byProvider, error, from: call.request, at: call.now)
            throw error
        }
    }
}
