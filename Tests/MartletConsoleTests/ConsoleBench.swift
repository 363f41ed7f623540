import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization

@testable import MartletConsole

/// A console over memory, with an administration that only notes what it is asked.
struct ConsoleBench {
    let storage = MemoryStorage()
    let time = ManualTimeSource()
    let administration = NotingAdministration()
    let directory: OperatorDirectory
    let console: Console
    /// What the operator of the server was told.
    let log = Notes()

    static let origin = "http://127.0.0.1:8080"

    /// - Parameter attempts: How many sign-ins that are not by password may fail.
    init(
        publicURL: String? = nil, provider: ConsoleProvider = ConsoleProvider(nil), attempts: Int = 100,
        sample: @escaping @Sendable (ManualTimeSource) -> ConsoleSample = { ConsoleSample(at: $0.now) }
    ) async throws {
        directory = try await OperatorDirectory(store: storage, time: time)
        let settings = ConsoleSettings(
            publicURL: publicURL.flatMap { HTTPOrigin($0) }, hosts: ["hub.example"], version: "1")
        console = Console(
            Console.Parts(
                directory: directory, passwords: PlainPasswords(attempts: attempts), provider: provider,
                administration: administration,
                description: ConsoleDescription(administration: [], schemas: [:]), simulator: administration,
                facts: FixedFacts(time: time, make: sample), hours: storage,
                hubNames: { ["other", "shop"] }, time: time
            ) { [log] in log.add($0) }, settings)
    }

    /// Signs a new operator in.
    /// - Returns: The cookie.
    func signIn(_ name: String, _ roles: String...) async throws -> String {
        let grants = RoleGrants(roles.compactMap { RoleGrant($0) })
        let link = try await directory.invite(name, grants)
        let answer = await send(
            .post, "/console/api/link/use", body: ["token": .string(link.token), "password": "secret-words"])
        let cookie = answer.fields["set-cookie"] ?? ""
        return String(cookie.prefix { $0 != ";" })
    }

    /// A request as a page of the console makes it.
    func request(
        _ method: HTTPMethod, _ target: String, cookie: String? = nil, body: JSON? = nil,
        changing change: (inout HTTPRequest) -> Void = { _ in }
    ) -> HTTPRequest {
        var request = HTTPRequest(
            method, target, authority: "127.0.0.1:8080", body: body?.bytes ?? [],
            connection: HTTPConnection(id: 1, peer: "127.0.0.1", isSecure: false))
        request.fields["cookie"] = cookie
        request.fields["sec-fetch-site"] = "same-origin"
        if method != .get {
            request.fields["origin"] = Self.origin
            request.fields["content-type"] = "application/json"
            request.fields["martlet-console"] = "1"
        }
        change(&request)
        return request
    }

    func send(
        _ method: HTTPMethod, _ target: String, cookie: String? = nil, body: JSON? = nil,
        changing change: (inout HTTPRequest) -> Void = { _ in }
    ) async -> HTTPResponse {
        await console.respond(to: request(method, target, cookie: cookie, body: body, changing: change))
    }
}

extension HTTPResponse {
    var json: JSON? { try? JSON(parsing: bytes) }
    var code: String? { json?["code"]?.string }
}

final class Notes: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock(\.self) }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// Answers everything with an empty object.
final class NotingAdministration: HTTPHandler {
    private let asked = Mutex<[HTTPRequest]>([])
    private let answers = Mutex<[String: JSON]>([:])
    private let locations = Mutex<[String: String]>([:])

    var targets: [String] { asked.withLock { $0.map { "\($0.method.rawValue) \($0.target)" } } }
    var last: HTTPRequest? { asked.withLock(\.last) }

    /// Answers a path, or a path with a query, with a document from now on.
    func answer(_ path: String, _ json: JSON) { answers.withLock { $0[path] = json } }

    /// Answers a path with an address from now on.
    func answer(_ path: String, location: String) { locations.withLock { $0[path] = location } }

    func route(for head: HTTPRequest) -> HTTPRoute {
        HTTPRoute(bodyLimit: 1 << 20) { request in
            self.asked.withLock { $0.append(request) }
            let path = String(request.target.prefix { $0 != "?" })
            let json = self.answers.withLock { $0[request.target] ?? $0[path] }
            var response = HTTPResponse(.ok, consoleJSON: json ?? [:])
            response.fields["location"] = self.locations.withLock { $0[path] }
            return response
        }
    }
}

/// Passwords without hashing.
final class PlainPasswords: OperatorPasswords {
    private let attempts: Mutex<Int>

    init(attempts: Int) {
        self.attempts = Mutex(attempts)
    }

    func limit(_ name: String, from address: String, _ work: () async -> AttemptResult) async -> Int64? {
        guard attempts.withLock({ $0 > 0 }) else { return 30 }
        let result = await work()
        if result == .failed { attempts.withLock { $0 -= 1 } }
        return nil
    }

    func hash(_ password: [UInt8]) async -> String? { "plain:" + String(decoding: password, as: UTF8.self) }

    func check(
        _ password: [UInt8], against hash: String?, of name: String, from address: String
    ) async -> PasswordCheck {
        hash == "plain:" + String(decoding: password, as: UTF8.self) ? .right : .wrong
    }
}

struct FixedFacts: ConsoleFacts {
    let time: ManualTimeSource
    let make: @Sendable (ManualTimeSource) -> ConsoleSample

    func sample() async -> ConsoleSample { make(time) }
}
