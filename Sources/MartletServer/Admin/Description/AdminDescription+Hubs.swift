import MartletHTTP
import MartletModel
import MartletOpenAPI

// The groups of routes for hubs, their credentials, keys, limits, tags, devices and jobs.
extension AdminDescription {
    static var hubs: APIGroup {
        group(
            "Hubs", "Hubs and the state of their push services.",
            APIOperation(
                .get, "/hubs", id: "listHubs", "List hubs",
                answers: [ok("All hubs.", APISchema.list(APISchema.named("Hub")))]),
            APIOperation(
                .put, "/hubs/{name}", id: "createHub", "Create a hub",
                answers: [created("The hub.", APISchema.named("HubDetail"))]),
            APIOperation(
                .get, "/hubs/{name}", id: "getHub", "Read a hub",
                answers: [ok("The hub.", APISchema.named("HubDetail"))]),
            APIOperation(
                .delete, "/hubs/{name}", id: "deleteHub", "Delete a hub and everything in it",
                answers: [done("The hub is gone.")]),
            APIOperation(
                .post, "/hubs/{name}/move", id: "moveHub", "Begin to move a hub to another database cluster",
                body: [.json(APISchema.object(["cluster": APISchema.count]))],
                answers: [APIAnswer(202, "It has begun.", .json(hubMove))]),
            APIOperation(
                .get, "/hubs/{name}/move", id: "getHubMove",
                "Read how far the last move of a hub is that this node has begun",
                answers: [ok("The move, or null.", ["anyOf": [hubMove, ["type": "null"]]])]),
            APIOperation(
                .get, "/hubs/{name}/services", id: "listServices", "Read the state of a hub's push services",
                answers: [
                    ok(
                        "Each platform that the server can send to.",
                        APISchema.object(["hub": APISchema.text, "platforms": APISchema.list(service)]))
                ]),
            APIOperation(
                .get, "/hubs/{name}/audience", id: "countAudience", "Count the devices that a send would reach",
                parameters: [
                    query("tags", "The tag expression; all devices without it."),
                    query("format", "Only native sends of this format, `template` or `message`."),
                ], answers: [ok("Exact numbers.", APISchema.named("AudienceCount"))]))
    }

    private static let hubMove = APISchema.object([
        "cluster": APISchema.count, "phase": APISchema.words("copying", "quiet", "comparing", "done", "failed"),
        "copied": APISchema.count, "compared": APISchema.count, "refusedMilliseconds": APISchema.count,
        "failure": APISchema.textOrNull,
    ])

    private static let service = APISchema.object([
        "platform": APISchema.text, "format": APISchema.text, "look": APISchema.text,
        "state": APISchema.words("usable", "missing", "unusable"), "reason": APISchema.textOrNull,
        "isSimulated": APISchema.flag, "hasSimulator": APISchema.flag, "expiresAt": APISchema.timeOrNull,
        "connections": APISchema.count,
        "fingerprint": APISchema.textOrNull, "shown": APISchema.map(APISchema.text),
        "lane": APISchema.object([
            "state": APISchema.words("open", "paused"), "until": APISchema.timeOrNull, "outcome": APISchema.textOrNull,
            "reason": APISchema.textOrNull,
        ]),
        "origins": APISchema.list(
            APISchema.object([
                "origin": APISchema.text, "until": APISchema.time, "outcome": APISchema.text, "reason": APISchema.text,
            ])),
        "failing": APISchema.list(
            APISchema.object([
                "origin": APISchema.text, "since": APISchema.time, "lastAt": APISchema.time,
                "attempts": APISchema.count, "status": APISchema.countOrNull, "outcome": APISchema.text,
                "reason": APISchema.text,
            ])),
        "waiting": [
            "anyOf": [
                APISchema.object([
                    "pushes": APISchema.count, "isPartial": APISchema.flag, "notifications": APISchema.count,
                    "expiresAt": APISchema.time, "nextAt": APISchema.time,
                ]), ["type": "null"],
            ]
        ],
        "quarantines": APISchema.texts, "fields": APISchema.list(APISchema.any), "canGenerate": APISchema.flag,
        "devices": APISchema.countOrNull,
    ])

    static var credentials: APIGroup {
        group(
            "Credentials", "The credentials of push services.",
            APIOperation(
                .put, "/hubs/{name}/credentials/{platform}", id: "putCredential",
                "Set a credential, which is checked before it is stored",
                body: [.json(APISchema.map(APISchema.text))], answers: [done("The credential is stored.")]),
            APIOperation(
                .post, "/hubs/{name}/credentials/{platform}/generate", id: "generateCredential",
                "Generate a credential where the platform allows it",
                answers: [
                    created(
                        "What may be shown of it.", APISchema.object(["shown": APISchema.map(APISchema.text)]))
                ]),
            APIOperation(
                .delete, "/hubs/{name}/credentials/{platform}", id: "deleteCredential", "Remove a credential",
                answers: [done("The credential is gone.")]))
    }

    static var keys: APIGroup {
        let rules = APISchema.list(APISchema.named("AccessRule"))
        let renewed = ok("The new connection string.", APISchema.named("ConnectionString"))
        return group(
            "Keys", "Access rules with their connection strings.",
            APIOperation(
                .get, "/hubs/{name}/keys", id: "listKeys", "Read a hub's access rules",
                answers: [ok("The rules.", rules)]),
            APIOperation(
                .post, "/hubs/{name}/keys/{rule}/{key}", id: "renewKey", "Replace a key of a hub's rule",
                parameters: [whichKey], answers: [renewed]),
            APIOperation(
                .get, "/namespace", id: "getNamespace", "Read the connection strings that are valid for all hubs",
                answers: [
                    ok("By rule.", APISchema.object(["connectionStrings": APISchema.map(APISchema.text)]))
                ]),
            APIOperation(
                .get, "/namespace/keys", id: "listNamespaceKeys", "Read the access rules that are valid for all hubs",
                answers: [ok("The rules.", rules)]),
            APIOperation(
                .post, "/namespace/keys/{rule}/{key}", id: "renewNamespaceKey",
                "Replace a key of a rule that is valid for all hubs", parameters: [whichKey], answers: [renewed]))
    }

    private static let whichKey = APIParameter(
        .path, "key", "Which of the rule's two keys.", schema: APISchema.words("primary", "secondary"))

    static var limits: APIGroup {
        let change = APISchema.object(
            ["requestRate": APISchema.countOrNull, "backlog": APISchema.countOrNull],
            optional: ["requestRate", "backlog"])
        return group(
            "Limits", "The limits of a hub.",
            APIOperation(
                .get, "/hubs/{name}/limits", id: "getLimits", "Read limits",
                answers: [ok("The limits.", APISchema.named("Limits"))]),
            APIOperation(
                .put, "/hubs/{name}/limits", id: "putLimits", "Change limits; one that is missing stays",
                body: [.json(change)], answers: [ok("The limits.", APISchema.named("Limits"))]))
    }

    static var tags: APIGroup {
        group(
            "Tags", "The names of tags.",
            APIOperation(
                .get, "/hubs/{name}/tags", id: "listTags",
                "List the names of tags. The tags that each device has of its own are listed only for a prefix with $",
                parameters: [
                    query("prefix", "Only names with this beginning."), query("after", "Only names after this one."),
                    limit(200, usual: 50),
                    query("personal", "`no`: without tags that name a person or a device, also in `next`."),
                ],
                answers: [
                    ok("In order.", APISchema.object(["tags": APISchema.texts, "next": APISchema.textOrNull]))
                ]),
            APIOperation(
                .get, "/hubs/{name}/tags/prefixes", id: "listTagPrefixes", "List the beginnings of tags up to a colon",
                answers: [
                    ok(
                        "In order.",
                        APISchema.object([
                            "prefixes": APISchema.texts, "plain": APISchema.flag, "isComplete": APISchema.flag,
                        ]))
                ]))
    }

    static var devices: APIGroup {
        group(
            "Devices", "Devices and the sends that were meant for them.",
            APIOperation(
                .post, "/hubs/{name}/devices/search", id: "findDevices",
                "Find devices by user, id, tag or handle. The text is in the body, because it may be a handle",
                body: [
                    .json(
                        APISchema.object(
                            [
                                "text": ["type": "string", "minLength": 1],
                                "kind": ["enum": ["user", "device", "installation", "tag", "handle", .null]],
                                "isExact": APISchema.flag,
                            ], optional: ["kind", "isExact"]))
                ],
                answers: [
                    ok(
                        "At most 50 devices and 20 users.",
                        APISchema.object([
                            "users": APISchema.texts, "devices": APISchema.list(APISchema.named("Device")),
                            "isComplete": APISchema.flag,
                        ]))
                ]),
            APIOperation(
                .post, "/hubs/{name}/devices/former", id: "listFormerDevices",
                "List devices that a user had in the last 31 days and has no more, with what ended it",
                body: [
                    .json(
                        APISchema.object(
                            ["user": ["type": "string", "minLength": 1], "before": APISchema.textOrNull],
                            optional: ["before"]))
                ],
                answers: [
                    ok(
                        "Newest first. `next` continues the list as `before`; null if all that is kept was looked through.",
                        APISchema.object([
                            "devices": APISchema.list(APISchema.named("FormerDevice")),
                            "lookedBackTo": APISchema.timeOrNull, "next": APISchema.textOrNull,
                        ]))
                ]),
            APIOperation(
                .get, "/hubs/{name}/devices/{id}", id: "getDevice", "Read a device with its history",
                answers: [ok("The device.", APISchema.named("Device"))]),
            APIOperation(
                .get, "/hubs/{name}/devices/{id}/sends", id: "listDeviceSends", "List what was meant for a device",
                parameters: [before],
                answers: [
                    ok(
                        "Newest first.",
                        APISchema.object([
                            "sends": APISchema.list(APISchema.any), "lookedBackTo": APISchema.timeOrNull,
                            "next": APISchema.textOrNull,
                        ]))
                ]))
    }

    static let before = query("before", "The `next` of the page before.", schema: ["type": "string"])

    static var jobs: APIGroup {
        group(
            "Jobs", "Import and export jobs. They are begun by the hub's API.",
            APIOperation(
                .get, "/hubs/{name}/jobs", id: "listJobs", "List the newest jobs",
                answers: [
                    ok(
                        "Newest first.",
                        APISchema.object(["jobs": APISchema.list(job), "limit": APISchema.count]))
                ]),
            APIOperation(
                .get, "/hubs/{name}/jobs/{job}/failed", id: "getFailedLines", "Read the lines that a job could not do",
                answers: [APIAnswer(.ok, "The lines with their reasons.", APIContent("text/plain"))]))
    }

    private static let job = APISchema.object([
        "id": APISchema.text, "kind": APISchema.text, "status": APISchema.text, "progress": ["type": "number"],
        "failure": APISchema.textOrNull, "container": APISchema.text, "output": APISchema.text,
        "input": APISchema.textOrNull, "failedBytes": APISchema.countOrNull, "createdAt": APISchema.time,
        "updatedAt": APISchema.time,
    ])
}
