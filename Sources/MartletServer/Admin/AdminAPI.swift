import MartletBackend
import MartletConsole
import MartletCore
import MartletHTTP
import MartletModel

/// The administration API: JSON over the admin socket.
///
/// The console uses this API too, after its own checks (`AdministrationDoor`). If no server is running, some commands
/// call this handler in their own process (`OfflineAdministration`).
///
/// Everybody who can connect to the socket may do everything. So only the socket's owner and root can connect, and with
/// `--admin-socket` also the server's group.
struct AdminAPI: Sendable {
    private static let bodyLimit = 1 << 20

    let hubs: HubDirectory
    let backendHub: BackendHub
    let devices: DeviceRegistry
    let users: UserDirectory
    let userRemoval: UserRemoval
    let userGroups: UserGroups
    let platforms: PushPlatformList
    let containers: ContainerAdministration
    let audit: AuditAdministration
    let migration: MigrationAdministration
    let operators: OperatorAdministration
    let sends: SendAdministration
    let campaigns: CampaignAdministration
    let deviceSearch: DeviceAdministration
    let services: ServiceAdministration
    let server: ServerAdministration
    let nodes: NodeAdministration
    let clusters: ClusterAdministration
    let move: MoveAdministration
    let serverKey: KeyAdministration
    let limits: LimitAdministration
    let traces: Traces
    let deadLetters: DeadLetters
    let funnels: Funnels
    let controls: SendControls
    let jobs: JobRunner
    let backup: BackupAdministration
    let lifecycle: LifecycleAdministration
    let metrics: ServerMetrics
    /// The address of the server, for use in connection strings.
    let endpoint: PublicEndpoint

    func makeHandler() -> Router {
        var router = Router { _, _ in
            HTTPResponse(
                .notFound,
                error: "A name must not be empty, '.' or '..', and must not have a slash.")
        }
        addHubs(to: &router)
        addCredentials(to: &router)
        addKeys(to: &router)
        addUsers(to: &router)
        addTraces(to: &router)
        addAudience(to: &router)
        addDeadLetters(to: &router)
        addFunnels(to: &router)
        addControl(to: &router)
        addJobs(to: &router)
        limits.addRoutes(to: &router)
        router.on(.get, "/metrics") { _, _ in await MetricsAPI.answer(metrics) }
        containers.addRoutes(to: &router)
        audit.addRoutes(to: &router)
        migration.addRoutes(to: &router)
        operators.addRoutes(to: &router)
        sends.addRoutes(to: &router)
        campaigns.addRoutes(to: &router)
        deviceSearch.addRoutes(to: &router)
        services.addRoutes(to: &router)
        server.addRoutes(to: &router)
        nodes.addRoutes(to: &router)
        clusters.addRoutes(to: &router)
        move.addRoutes(to: &router)
        serverKey.addRoutes(to: &router)
        backup.addRoutes(to: &router)
        lifecycle.addRoutes(to: &router)
        router.on(.get, AdminDescription.path) { _, _ in AdminDescription.response }
        return router
    }

    // MARK: Hubs

    private func addHubs(to router: inout Router) {
        router.on(.get, "/hubs") { _, _ in
            HTTPResponse(.ok, json: .array(hubs.all.map(summary)))
        }
        router.on(.put, "/hubs/{name}") { _, match in
            await answerHubs { () throws(HubDirectoryError) in
                let hub = try await hubs.create(match["name"])
                return endpoint.answer(.created, json: detail(hub), advice: backendHub.obstacle)
            }
        }
        router.on(.get, "/hubs/{name}") { _, match in
            guard let hub = hubs.hub(named: match["name"]) else {
                return Self.refusal(.notFound(match["name"]))
            }
            return endpoint.answer(json: detail(hub))
        }
        router.on(.delete, "/hubs/{name}") { _, match in
            await answerHubs { () throws(HubDirectoryError) in
                try await hubs.delete(match["name"])
                return HTTPResponse(.noContent)
            }
        }
    }

    private func addCredentials(to router: inout Router) {
        router.on(.put, "/hubs/{name}/credentials/{platform}", bodyLimit: Self.bodyLimit) { request, match in
            guard let members = try? JSON(parsing: request.body).object else {
                return HTTPResponse(.badRequest, error: "A credential is a JSON object of strings.")
            }
            return await setCredential(Credential(members.compactMapValues(\.string)), match)
        }
        router.on(.delete, "/hubs/{name}/credentials/{platform}") { _, match in
            await setCredential(nil, match)
        }
    }

    private func setCredential(_ credential: Credential?, _ match: RouteMatch) async -> HTTPResponse {
        guard let platform = platforms.named(match["platform"]) else {
            return Self.refusal(.unknownPlatform(PlatformID(rawValue: match["platform"])))
        }
        return await answerHubs { () throws(HubDirectoryError) in
            try await hubs.setCredential(credential, for: platform.descriptor.platform, of: match["name"])
            return HTTPResponse(.noContent)
        }
    }

    func answerHubs(
        _ work: () async throws(HubDirectoryError) -> HTTPResponse
    ) async -> HTTPResponse {
        do throws(HubDirectoryError) {
            return try await work()
        } catch {
            return Self.refusal(error)
        }
    }

    static func refusal(_ error: HubDirectoryError) -> HTTPResponse {
        let status: HTTPStatus =
            switch error {
            case .badName, .unknownPlatform, .badCredential, .invalid: .badRequest
            case .exists: .conflict
            case .notFound, .ruleNotFound: .notFound
            case .storage(let error): HTTPStatus(error)
            }
        return HTTPResponse(status, error: error.description)
    }

    private func summary(_ hub: Hub) -> JSON {
        [
            "name": .string(hub.name), "createdAt": .string(hub.createdAt.iso8601),
            "credentials": .array(hub.settings.credentials.keys.sorted().map { .string($0.rawValue) }),
        ]
    }

    private func detail(_ hub: Hub) -> JSON {
        guard case .object(var members) = summary(hub) else { return .null }
        members["connectionStrings"] = connectionStrings(hub.settings.accessRules)
        members["credentialExpiries"] = .object(
            Dictionary(
                uniqueKeysWithValues: hub.settings.credentials.map { platform, credential in
                    (platform.rawValue, expiry(of: credential, platform).map { .string($0.iso8601) } ?? .null)
                }))
        return .object(members)
    }

    /// Returns when a credential expires; nil if it does not expire or cannot be used.
    private func expiry(of credential: Credential, _ platform: PlatformID) -> Timestamp? {
        platforms.service(platform).flatMap { try? $0.init(credential: credential) }?.expiresAt
    }

    // MARK: Users

    private func addUsers(to router: inout Router) {
        router.on(.get, "/users") { _, match in
            let limit = match.target.item("limit")?.value.map { Int($0) } ?? UserDirectory.pageLimit
            guard let limit, (1...UserDirectory.pageLimit).contains(limit) else {
                return HTTPResponse(.badRequest, error: "limit is 1 to \(UserDirectory.pageLimit).")
            }
            return await answerUsers { () throws(UserDirectoryError) in
                let users = try await users.list(
                    beginningWith: match.target.item("prefix")?.value ?? "", after: match.target.item("after")?.value,
                    limit: limit)
                let documents = users.map { JSON.object(Self.json($0)) }
                let next = users.count == limit ? users.last.map { JSON.string($0.name) } : nil
                return HTTPResponse(.ok, json: ["users": .array(documents), "next": next ?? .null])
            }
        }
        router.on(.put, "/users/{name}", bodyLimit: Self.bodyLimit) { request, match in
            let user = try? JSON(parsing: request.body)
            guard let password = user?["password"]?.string else {
                return HTTPResponse(.badRequest, error: "A user is a JSON object with a password.")
            }
            let condition = request.fields["if-match"]
            guard condition == nil || condition == "*" else {
                return HTTPResponse(.badRequest, error: "A user has no versions: If-Match must be *.")
            }
            return await answerUsers { () throws(UserDirectoryError) in
                let roles = Set((user?["roles"]?.array ?? []).compactMap(\.string))
                guard condition == nil else {
                    try await users.changePassword(of: match["name"], to: password, roles: roles)
                    return HTTPResponse(.ok, json: ["isNew": false])
                }
                let isNew = try await users.add(match["name"], password: password, roles: roles)
                return HTTPResponse(.ok, json: ["isNew": .bool(isNew)])
            }
        }
        router.on(.get, "/users/{name}") { _, match in
            await answerUsers { () throws(UserDirectoryError) in
                let (user, sessions) = try await users.account(of: match["name"])
                var members = Self.json(user)
                members["sessions"] = .integer(Int64(sessions))
                return HTTPResponse(.ok, json: .object(members))
            }
        }
        router.on(.delete, "/users/{name}/sessions") { _, match in
            await answerUsers { () throws(UserDirectoryError) in
                try await users.endSessions(of: match["name"])
                return HTTPResponse(.noContent)
            }
        }
        router.on(.put, "/users/{name}/roles/{role}") { _, match in
            await answerUsers { () throws(UserDirectoryError) in
                try await users.addRole(match["role"], to: match["name"])
                return HTTPResponse(.noContent)
            }
        }
        router.on(.delete, "/users/{name}/roles/{role}") { _, match in
            await answerUsers { () throws(UserDirectoryError) in
                try await users.removeRole(match["role"], from: match["name"])
                return HTTPResponse(.noContent)
            }
        }
        router.on(.put, "/users/{name}/groups/{group}") { _, match in
            await answerUsers { () throws(UserDirectoryError) in
                try await userGroups.add(match["group"], to: match["name"])
                return HTTPResponse(.noContent)
            }
        }
        router.on(.delete, "/users/{name}/groups/{group}") { _, match in
            await answerUsers { () throws(UserDirectoryError) in
                try await userGroups.remove(match["group"], from: match["name"])
                return HTTPResponse(.noContent)
            }
        }
        router.on(.delete, "/users/{name}") { _, match in
            await answerUsers { () throws(UserDirectoryError) in
                try await userRemoval.remove(match["name"])
                return HTTPResponse(.noContent)
            }
        }
    }

    private static func json(_ user: User) -> [String: JSON] {
        [
            "name": .string(user.name), "createdAt": .string(user.createdAt.iso8601),
            "roles": .array(user.roles.sorted().map { .string($0) }),
        ]
    }

    private func answerUsers(_ work: () async throws(UserDirectoryError) -> HTTPResponse) async -> HTTPResponse {
        do throws(UserDirectoryError) {
            return try await work()
        } catch {
            let status: HTTPStatus =
                switch error {
                case .badName, .badPassword, .badRole, .badGroup: .badRequest
                case .devicesAreFull: .conflict
                case .notFound: .notFound
                case .busy: .serviceUnavailable
                case .storage(let error): HTTPStatus(error)
                }
            return HTTPResponse(status, error: error.description)
        }
    }
}

extension HTTPStatus {
    /// Creates the status of the answer to a storage failure: 507 if the disk is full, otherwise 503.
    init(_ error: StorageError) {
        self = error.kind == .full ? .insufficientStorage : .serviceUnavailable
    }
}
