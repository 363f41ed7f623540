import MartletHTTP
import MartletModel
import MartletOpenAPI

// The groups of routes for the server itself: users, operators, audit, backups, keys and containers.
extension AdminDescription {
    static var users: APIGroup {
        let page = APISchema.object([
            "users": APISchema.list(APISchema.named("User")), "next": APISchema.textOrNull,
        ])
        return group(
            "Users", "The users of the app backend.",
            APIOperation(
                .get, "/users", id: "listUsers", "List users by name",
                parameters: [
                    query("prefix", "Only names with this beginning, compared without case."),
                    query("after", "Only names after this one."), limit(200, usual: 200),
                ], answers: [ok("A page.", page)]),
            APIOperation(
                .get, "/users/{name}", id: "getUser", "Read a user and the number of its sessions",
                answers: [ok("The user.", APISchema.named("UserDetail"))]),
            APIOperation(
                .put, "/users/{name}", id: "putUser",
                "Add a user, or replace the password and end the sessions; with `If-Match: *`, only replace",
                parameters: [
                    APIParameter(
                        .header, "If-Match", "`*`: the user must exist. If it does not, the answer is 404.",
                        schema: ["const": "*"])
                ],
                body: [
                    .json(
                        APISchema.object(
                            ["password": APISchema.text, "roles": APISchema.texts], optional: ["roles"]))
                ], answers: [ok("Whether the user is new.", APISchema.object(["isNew": APISchema.flag]))]),
            APIOperation(.delete, "/users/{name}", id: "deleteUser", "Remove a user", answers: [done("It is gone.")]),
            APIOperation(
                .delete, "/users/{name}/sessions", id: "endUserSessions", "End a user's sessions",
                answers: [done("They have ended.")]),
            APIOperation(
                .put, "/users/{name}/roles/{role}", id: "addUserRole", "Give a role", answers: [done("It is given.")]),
            APIOperation(
                .delete, "/users/{name}/roles/{role}", id: "removeUserRole", "Take a role away",
                answers: [done("It is taken away.")]),
            APIOperation(
                .put, "/users/{name}/groups/{group}", id: "addUserGroup", "Add a user to a group",
                answers: [done("The user is in the group.")]),
            APIOperation(
                .delete, "/users/{name}/groups/{group}", id: "removeUserGroup", "Remove a user from a group",
                answers: [done("The user is not in the group.")]))
    }

    static var operators: APIGroup {
        let roles = APISchema.described("Such as `admin` or `sender@shop`.", APISchema.texts)
        let one = ok("The operator.", APISchema.named("Operator"))
        let link = created("A link for 15 minutes and one use.", APISchema.named("Link"))
        return group(
            "Operators", "Who may sign in to the web console.",
            APIOperation(
                .get, "/operators", id: "listOperators", "List operators",
                answers: [ok("All operators.", APISchema.list(APISchema.named("Operator")))]),
            APIOperation(
                .post, "/operators", id: "inviteOperator", "Add an operator, or make a link for a new password",
                body: [.json(APISchema.object(["name": APISchema.text, "roles": roles]))], answers: [link]),
            APIOperation(
                .post, "/operators/link", id: "makeSignInLink", "Make a link that signs an operator in",
                body: [.json(APISchema.object(["name": APISchema.text]))], answers: [link]),
            APIOperation(
                .put, "/operators/{name}/roles", id: "putOperatorRoles", "Replace an operator's roles",
                body: [.json(APISchema.object(["roles": roles]))], answers: [one]),
            APIOperation(
                .put, "/operators/{name}/disabled", id: "disableOperator",
                "Prevent an operator from signing in, or allow it",
                body: [.json(APISchema.object(["disabled": APISchema.flag]))], answers: [one]),
            APIOperation(
                .delete, "/operators/{name}/sessions", id: "endOperatorSessions",
                "End an operator's sessions and links",
                answers: [done("They have ended.")]),
            APIOperation(
                .delete, "/operators/{name}/factor", id: "resetFactor",
                "Remove an operator's second factor, and end the sessions", answers: [done("It is gone.")]))
    }

    static var audit: APIGroup {
        let entry = APISchema.object([
            "id": APISchema.text, "at": APISchema.time, "operator": APISchema.text, "address": APISchema.text,
            "role": APISchema.text, "action": APISchema.text, "hub": APISchema.textOrNull,
            "subject": APISchema.textOrNull, "answer": APISchema.countOrNull,
        ])
        let access = APISchema.object([
            "at": APISchema.time, "outcome": APISchema.text, "payload": APISchema.count, "user": APISchema.text,
            "address": APISchema.text,
        ])
        return group(
            "Audit", "What operators changed, and who fetched which payload.",
            APIOperation(
                .get, "/audit/operators", id: "listActions", "List what operators did, newest first",
                parameters: [query("operator", "Only actions of this operator."), before, limit(500, usual: 100)],
                answers: [
                    ok(
                        "A page.", APISchema.object(["entries": APISchema.list(entry), "next": APISchema.textOrNull]))
                ]),
            APIOperation(
                .get, "/audit", id: "listAccesses", "List who fetched which payload",
                parameters: [
                    query("payload", "Only this payload."), query("user", "Only this user."), limit(10_000, usual: 100),
                ], answers: [ok("The entries.", APISchema.list(access))]))
    }

    static var server: APIGroup {
        let state = APISchema.object([
            "version": APISchema.text, "startedAt": APISchema.time, "databaseBytes": APISchema.countOrNull,
            "logBytes": APISchema.countOrNull, "diskFree": APISchema.countOrNull, "diskReserve": APISchema.countOrNull,
            "memory": APISchema.count, "writesWaiting": APISchema.count, "backupAt": APISchema.timeOrNull,
            "certificateEndsAt": APISchema.timeOrNull, "isReady": APISchema.flag, "obstacle": APISchema.textOrNull,
            "listeners": APISchema.list(
                APISchema.object([
                    "purpose": ["enum": ["shared", "proxy", "console"]], "address": APISchema.text,
                    "isTLS": APISchema.flag,
                ])),
        ])
        let node = APISchema.object([
            "incarnation": APISchema.count, "name": APISchema.text, "version": APISchema.text,
            "startedAt": APISchema.time, "renewedAt": APISchema.time, "isAlive": APISchema.flag,
            "hubs": APISchema.count,
        ])
        let cluster = APISchema.object([
            "number": APISchema.count, "address": APISchema.text, "hubs": APISchema.count,
            "obstacle": APISchema.textOrNull,
        ])
        let clusters = APISchema.object(["clusters": APISchema.list(cluster)])
        let addition = APISchema.object(["number": APISchema.count, "isNew": APISchema.flag])
        let nodes = APISchema.object(["answering": APISchema.countOrNull, "nodes": APISchema.list(node)])
        return group(
            "Server", "The state of the server.",
            APIOperation(
                .get, "/server", id: "getServer", "Read the state of the server", answers: [ok("The state.", state)]),
            APIOperation(
                .get, "/nodes", id: "listNodes", "List the nodes that share the database, the oldest first",
                answers: [ok("The nodes, and the incarnation of the one that answers.", nodes)]),
            APIOperation(
                .get, "/clusters", id: "listClusters", "List the database clusters that hubs live on",
                answers: [ok("The clusters, the first one first.", clusters)]),
            APIOperation(
                .post, "/clusters", id: "addCluster",
                "Add an empty database as a cluster, or change the address of a cluster",
                body: [.json(APISchema.object(["address": APISchema.text]))],
                answers: [
                    created("The number of the new cluster.", addition),
                    ok("The number of the cluster whose address was changed.", addition),
                ]),
            APIOperation(
                .delete, "/clusters/{number}", id: "removeCluster", "Remove a cluster that no hub is on",
                answers: [done("It is removed.")]),
            APIOperation(
                .get, "/metrics", id: "getMetrics", "Read the metrics",
                answers: [APIAnswer(.ok, "In the text format of Prometheus.", APIContent("text/plain"))]),
            APIOperation(
                .get, "/ready", id: "getReadiness", "Ask whether the server is ready",
                answers: [
                    ok("It is.", APISchema.object(["ready": APISchema.flag, "note": APISchema.textOrNull]))
                ]),
            APIOperation(
                .post, "/reload", id: "reload", "Apply the configuration again",
                answers: [ok("What has changed, and what waits for a restart.", APISchema.any)]),
            APIOperation(
                .post, "/move", id: "moveData", "Move all data to a database on PostgreSQL, and end the server",
                body: [
                    .json(
                        APISchema.object(
                            [
                                "database": APISchema.text, "directory": APISchema.text,
                                "stopLimitSeconds": APISchema.count,
                            ], optional: ["directory", "stopLimitSeconds"]))
                ],
                answers: [
                    APIAnswer(
                        .ok, "A line of JSON for each event, and one a second at least.",
                        APIContent("application/x-ndjson"))
                ]))
    }

    static var backups: APIGroup {
        let entry = APISchema.object([
            "name": APISchema.text, "bytes": APISchema.count, "createdAt": APISchema.time,
            "isBeforeUpgrade": APISchema.flag, "isVerified": APISchema.flagOrNull, "problem": APISchema.textOrNull,
        ])
        let work = APISchema.object(
            ["kind": APISchema.words("make", "verify"), "name": APISchema.text], optional: ["name"])
        let begun = APIAnswer(202, "It has begun.", .json(APISchema.object(["work": work])))
        let file = APIAnswer(.ok, "The backup.", APIContent("application/x-tar"))
        return group(
            "Backups", "Backups in the data directory, and a backup of this moment.",
            APIOperation(
                .get, "/backup", id: "getBackup", "Make a backup and read it",
                parameters: [query("keys", "`1` includes the server's keys.")], answers: [file]),
            APIOperation(
                .get, "/backups", id: "listBackups", "List the backups in the data directory",
                answers: [
                    ok(
                        "The backups, and what is being done.",
                        APISchema.object([
                            "backups": APISchema.list(entry), "work": ["anyOf": [work, ["type": "null"]]],
                            "written": APISchema.count, "failure": APISchema.textOrNull, "kept": APISchema.count,
                        ]))
                ]),
            APIOperation(.post, "/backups", id: "makeBackup", "Make a backup in the data directory", answers: [begun]),
            APIOperation(
                .post, "/backups/{backup}/verify", id: "verifyBackup", "Read a backup to check it", answers: [begun]),
            APIOperation(.get, "/backups/{backup}", id: "getBackupFile", "Read a backup's file", answers: [file]))
    }

    static var serverKey: APIGroup {
        let status = ok(
            "The keys, newest first, and the number of secrets under older keys.", APISchema.named("ServerKey"))
        return group(
            "Server key", "The key that secrets in the database are encrypted with.",
            APIOperation(.get, "/server-key", id: "getServerKey", "List the ids of the keys", answers: [status]),
            APIOperation(
                .post, "/server-key", id: "rotateServerKey", "Add a new key",
                answers: [created("The keys.", APISchema.named("ServerKey"))]),
            APIOperation(
                .post, "/server-key/reseal", id: "resealSecrets",
                "Encrypt secrets with the newest key, some at a time; repeat it until `left` is 0", answers: [status]),
            APIOperation(
                .delete, "/server-key", id: "retireServerKeys", "Remove keys that are no longer used", answers: [status]
            ))
    }

    static var containers: APIGroup {
        let url = APISchema.object(["url": APISchema.text])
        let signing = [
            query("hours", "How long the URL is valid.", schema: ["type": "integer", "minimum": 1, "maximum": 8760]),
            query("rights", "Of r, w, d and l: to read, write, delete and list."),
        ]
        return group(
            "Containers", "Storage containers for import and export jobs.",
            APIOperation(
                .get, "/containers", id: "listContainers", "List the names of containers",
                answers: [ok("The names.", APISchema.texts)]),
            APIOperation(
                .put, "/containers/{name}", id: "createContainer", "Create a container", parameters: signing,
                answers: [ok("A signed URL.", url)]),
            APIOperation(
                .get, "/containers/{name}/url", id: "signContainerURL", "Make a signed URL", parameters: signing,
                answers: [ok("A signed URL.", url)]),
            APIOperation(
                .delete, "/containers/{name}", id: "deleteContainer", "Delete a container and what is in it",
                answers: [done("It is gone.")]))
    }

    static var migration: APIGroup {
        let report = ok("What was done.", APISchema.any)
        let feed = [APIContent("application/atom+xml")]
        return group(
            "Migration", "What `martlet migrate azure` uses.",
            APIOperation(
                .get, "/hubs/{name}/migration", id: "getMigration", "Read where a migration stands",
                answers: [
                    ok("The pass and its checkpoint.", APISchema.object(["pass": APISchema.count, "checkpoint": true]))
                ]),
            APIOperation(
                .put, "/hubs/{name}/migration/checkpoint", id: "putMigrationCheckpoint", "Store a checkpoint",
                body: [.json(true)], answers: [done("It is stored.")]),
            APIOperation(
                .post, "/hubs/{name}/migration/page", id: "copyRegistrations", "Store a page of registrations",
                body: feed, answers: [report]),
            APIOperation(
                .post, "/hubs/{name}/migration/installations", id: "copyInstallations", "Store installations",
                body: [.json(APISchema.list(APISchema.any))], answers: [report]),
            APIOperation(
                .post, "/hubs/{name}/migration/compare", id: "compareRegistrations",
                "Compare a page of registrations with those of the hub", body: feed, answers: [report]),
            APIOperation(
                .get, "/hubs/{name}/migration/missing", id: "listMissing", "List what a pass has not seen",
                parameters: [query("after", "The last one of the page before.")], answers: [report]),
            APIOperation(
                .post, "/hubs/{name}/migration/gone", id: "deleteGone", "Delete registrations that are gone",
                body: [.json(true)], answers: [report]),
            APIOperation(
                .post, "/hubs/{name}/migration/end", id: "endMigrationPass", "End a pass",
                answers: [done("It has ended.")]))
    }
}
