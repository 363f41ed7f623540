import MartletCore
import MartletHTTP
import MartletModel

// Routes for the keys of access rules. A rule belongs either to one hub, or to the namespace. The rules of the
// namespace apply to all hubs.
extension AdminAPI {
    func addKeys(to router: inout Router) {
        router.on(.get, "/hubs/{name}/keys") { _, match in
            guard let hub = hubs.hub(named: match["name"]) else { return Self.refusal(.notFound(match["name"])) }
            return endpoint.answer(json: .array(hub.settings.accessRules.map(keys)))
        }
        router.on(.post, "/hubs/{name}/keys/{rule}/{key}") { _, match in
            await regenerate(match) { key throws(HubDirectoryError) in
                try await hubs.regenerateKey(key, of: match["rule"], in: match["name"])
            }
        }
        router.on(.get, "/namespace") { _, _ in
            endpoint.answer(json: ["connectionStrings": connectionStrings(hubs.namespaceRules)])
        }
        router.on(.get, "/namespace/keys") { _, _ in
            endpoint.answer(json: .array(hubs.namespaceRules.map(keys)))
        }
        router.on(.post, "/namespace/keys/{rule}/{key}") { _, match in
            await regenerate(match) { key throws(HubDirectoryError) in
                try await hubs.regenerateNamespaceKey(key, of: match["rule"])
            }
        }
    }

    /// Returns one connection string for each rule, with the rule's primary key, in an object keyed by rule name.
    func connectionStrings(_ rules: [AccessRule]) -> JSON {
        .object(
            Dictionary(
                rules.map { ($0.name, .string(connectionString($0, .primary))) },
                uniquingKeysWith: { first, _ in first }))
    }

    private func regenerate(
        _ match: RouteMatch,
        _ work: (AccessRule.KeyKind) async throws(HubDirectoryError) -> AccessRule
    ) async -> HTTPResponse {
        guard let key = AccessRule.KeyKind(rawValue: match["key"].lowercased()) else {
            return HTTPResponse(.badRequest, error: "A rule's keys are called primary and secondary.")
        }
        return await answerHubs { () throws(HubDirectoryError) in
            let rule = try await work(key)
            return endpoint.answer(json: ["connectionString": .string(connectionString(rule, key))])
        }
    }

    private func keys(_ rule: AccessRule) -> JSON {
        let rights: [(String, AccessRights)] = [("Listen", .listen), ("Manage", .manage), ("Send", .send)]
        return [
            "name": .string(rule.name),
            "rights": .array(rights.filter { rule.rights.contains($0.1) }.map { .string($0.0) }),
            "primary": .string(connectionString(rule, .primary)),
            "secondary": .string(connectionString(rule, .secondary)),
        ]
    }

    private func connectionString(_ rule: AccessRule, _ key: AccessRule.KeyKind) -> String {
        ConnectionString(
            authority: endpoint.authority, isSecure: endpoint.isSecure, keyName: rule.name, key: rule[key]
        ).text
    }
}
