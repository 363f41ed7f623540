public import MartletCore
public import MartletHTTP
import MartletModel
import MartletOpenAPI

/// The web console: its pages, and the API that they use.
///
/// All paths begin with `/console`. As long as there is no operator, every path is answered with 404. The API below
/// `/console/api` checks the session, the role and the origin of each request, then passes the request to the
/// administration API. It keeps an audit log. It also has routes of its own for signing in and for live figures.
public struct Console: HTTPHandler {
    /// The first path segment of all requests that the console answers.
    public static let pathPrefix = "console"

    /// The parts of the server that the console uses.
    public struct Parts: Sendable {
        public var directory: OperatorDirectory
        public var passwords: any OperatorPasswords
        /// The identity provider with which operators can sign in, as an alternative to a password.
        public var provider: ConsoleProvider
        /// The handler of the administration API, which also answers the admin socket.
        public var administration: any HTTPHandler
        public var description: ConsoleDescription
        /// The handler of the simulator's control interface; nil if no simulator runs.
        public var simulator: (any HTTPHandler)?
        public var facts: any ConsoleFacts
        public var hours: any MetricHourStore
        /// Returns the names of all hubs.
        public var hubNames: @Sendable () -> [String]
        public var time: any TimeSource
        /// Receives messages for the operator of the server, without secrets.
        public var log: @Sendable (String) -> Void

        public init(
            directory: OperatorDirectory, passwords: any OperatorPasswords,
            provider: ConsoleProvider = ConsoleProvider(nil), administration: any HTTPHandler,
            description: ConsoleDescription, simulator: (any HTTPHandler)?, facts: any ConsoleFacts,
            hours: any MetricHourStore,
            hubNames: @escaping @Sendable () -> [String], time: any TimeSource,
            log: @escaping @Sendable (String) -> Void
        ) {
            self.directory = directory
            self.passwords = passwords
            self.provider = provider
            self.administration = administration
            self.description = description
            self.simulator = simulator
            self.facts = facts
            self.hours = hours
            self.hubNames = hubNames
            self.time = time
            self.log = log
        }
    }

    private let directory: OperatorDirectory
    private let source: RequestSource
    private let signIn: SignIn
    private let assets: AssetRoutes
    private let live: LiveConsole
    private let provider: ConsoleProvider
    private let time: any TimeSource
    private let api: Router
    /// The routes of the console's API. Tests read them to check the role that each route needs.
    let routes: [ConsoleRoute]
    /// The description of the API. Tests check that it has every route.
    let description: APIDescription

    public init(_ parts: Parts, _ settings: ConsoleSettings) {
        directory = parts.directory
        time = parts.time
        source = RequestSource(settings: settings)
        assets = AssetRoutes(assets: ConsoleAssets(directory: settings.files))
        let factor = SecondFactor(store: parts.directory.store, time: parts.time)
        let confirmations = AttemptLimit(
            time: parts.time, refusal: "There were too many wrong passwords; wait, or sign out and in again.")
        signIn = SignIn(
            directory: parts.directory, passwords: parts.passwords, factor: factor, confirmations: confirmations,
            time: parts.time)
        provider = parts.provider
        let providerSignIn = ProviderSignIn(provider: parts.provider, signIn: signIn, log: parts.log)
        let failures = FailedSignIns(store: parts.directory.store)
        let door = AdministrationDoor(administration: parts.administration)
        let live = LiveConsole(
            facts: parts.facts, hours: parts.hours, directory: parts.directory, door: door, time: parts.time,
            log: parts.log)
        self.live = live
        parts.directory.onChange { name in Task { await live.recheck(name) } }
        let sessions = SessionRoutes(
            directory: parts.directory, signIn: signIn, failures: failures, hubNames: parts.hubNames,
            facts: SessionRoutes.SessionFacts(
                version: settings.version, hasSimulator: parts.simulator != nil, features: ["canary"]),
            provider: providerSignIn)
        var routes =
            sessions.all + ProviderRoutes(provider: providerSignIn, sessions: sessions, failures: failures).all
            + FactorRoutes(directory: parts.directory, factor: factor).all + LiveRoutes(live: live).all
            + AdministrationRoutes(door: door, simulator: parts.simulator).all
        description = parts.description.description(of: routes)
        var document = description.makeResponse()
        document.fields["cache-control"] = "no-store"
        routes.append(ConsoleRoute(.get, ConsoleDescription.path, .anyRole) { [document] _ in document })
        self.routes = routes
        var router = Router { _, refusal in
            switch refusal {
            case .badTarget: ConsoleRefusal.badRequest("The path is not one that a URL can have.").response
            case .notFound: ConsoleRefusal.notFound.response
            case .methodNotAllowed(let allow):
                HTTPResponse(
                    .methodNotAllowed, fields: ["allow": allow.map(\.rawValue).joined(separator: ", ")])
            }
        }
        for route in routes {
            let gate = GatedRoute(route: route, source: source, signIn: signIn, time: parts.time)
            router.admit(route.method, AdministrationDoor.prefix + route.pattern) { head, match in
                gate.route(for: head, match)
            }
        }
        api = router
    }

    /// Samples the server for the console's charts, and serves the event streams, until the task is cancelled.
    public func run() async {
        async let probed: Void = provider.probe()
        await live.run()
        await probed
    }

    public func route(for head: HTTPRequest) -> HTTPRoute {
        var route = undecorated(head)
        route.respond = { [respond = route.respond] request in
            var response = await respond(request)
            ConsoleHeaders.add(to: &response)
            return response
        }
        return route
    }

    private func undecorated(_ head: HTTPRequest) -> HTTPRoute {
        guard !directory.isEmpty else { return HTTPRoute(refusing: ConsoleRefusal.notFound.response) }
        do throws(ConsoleRefusal) {
            try source.checkHost(head)
        } catch {
            return HTTPRoute(refusing: error.response)
        }
        guard let target = HTTPTarget(head.target) else {
            return HTTPRoute(refusing: ConsoleRefusal.notFound.response)
        }
        if target.segments.dropFirst().first == "api" { return api.route(for: head) }
        if target.rawPath == "/\(Self.pathPrefix)" {
            let location = "/\(Self.pathPrefix)/"
            return HTTPRoute(refusing: HTTPResponse(308, fields: ["location": location, "cache-control": "no-cache"]))
        }
        return HTTPRoute(refusing: assets.respond(to: head, target.segments.dropFirst()))
    }
}
