import MartletModel
import MartletOpenAPI

// The schemas of documents that only the administration API uses. `HubDocumentSchemas` has the schemas of documents
// that the hub's API uses too.
extension AdminDescription {
    static let ownSchemas: [String: JSON] = [
        "Error": APISchema.object(["error": APISchema.text]),
        "Hub": hub, "HubDetail": hubDetail, "Limits": limitsSchema, "Send": send, "SendDetail": sendDetail,
        "Campaign": campaign, "CampaignDraft": campaignDraft, "Device": device, "FormerDevice": formerDevice,
        "User": user, "UserDetail": userDetail,
        "Operator": operatorSchema,
        "Link": link, "ServerKey": APISchema.object(["keys": APISchema.texts, "left": APISchema.count]),
        "ConnectionString": APISchema.object(["connectionString": APISchema.text]),
        "AccessRule": APISchema.object([
            "name": APISchema.text, "rights": APISchema.list(APISchema.words("Listen", "Manage", "Send")),
            "primary": APISchema.text, "secondary": APISchema.text,
        ]),
    ]

    private static let hubMembers: [String: JSON] = [
        "name": APISchema.text, "createdAt": APISchema.time,
        "credentials": APISchema.described("The platforms that have a credential.", APISchema.texts),
    ]

    private static let hub = APISchema.object(hubMembers)

    private static let hubDetail = APISchema.object(
        hubMembers.merging([
            "connectionStrings": APISchema.described(
                "By the names of access rules. The console leaves them out.", APISchema.map(APISchema.text)),
            "credentialExpiries": APISchema.map(APISchema.timeOrNull),
        ]) { $1 }, optional: ["connectionStrings"])

    private static let limitPair = APISchema.object([
        "requestRate": APISchema.countOrNull, "backlog": APISchema.countOrNull,
    ])

    private static let limitsSchema = APISchema.object([
        "requestRate": APISchema.described("Requests a second; null: the usual limit.", APISchema.countOrNull),
        "backlog": APISchema.described("Unfinished notifications; null: the usual limit.", APISchema.countOrNull),
        "usual": limitPair,
        "unfinished": APISchema.object(["notifications": APISchema.countOrNull, "bytes": APISchema.count]),
    ])

    private static let sendMembers: [String: JSON] = [
        "id": APISchema.text, "cursor": APISchema.text, "acceptedAt": APISchema.time, "dueAt": APISchema.timeOrNull,
        "expiresAt": APISchema.time, "startedAt": APISchema.timeOrNull, "endedAt": APISchema.timeOrNull,
        "state": APISchema.text,
        "control": ["enum": ["running", "holding", "paused", "halted", "canceled", .null]],
        "goesOnAt": APISchema.described(
            "When a canary that holds continues by itself; null if it holds until it is resumed.",
            APISchema.timeOrNull),
        "isConfidential": APISchema.flag, "succeeded": APISchema.count, "failed": APISchema.count,
        "targeted": APISchema.described(
            "Null until the send has ended, and if it was canceled before it began.", APISchema.countOrNull),
        "pending": APISchema.countOrNull, "platforms": APISchema.texts,
        "author": APISchema.described(
            "key:RULE, user:NAME, operator:NAME, administrator, or resend:ID; null if it is not known.",
            APISchema.textOrNull),
        "resentBy": APISchema.textOrNull, "resentFrom": APISchema.textOrNull, "expression": APISchema.textOrNull,
        "isDirect": APISchema.flag, "handles": APISchema.count, "isToOneUser": APISchema.flag,
        "kind": APISchema.words("native", "template", "message"), "platform": APISchema.textOrNull,
        "text": APISchema.described("What devices show first; null if it is confidential.", APISchema.textOrNull),
        "rollout": APISchema.textOrNull,
    ]

    private static let send = APISchema.object(sendMembers)

    private static let sendDetail = APISchema.object(
        sendMembers.merging([
            "content": APISchema.described(
                "`body`, `size` and `fields`; or `isWithheld` with the reason as `why`.", APISchema.any)
        ]) { $1 })

    private static let campaignMembers: [String: JSON] = [
        "id": APISchema.text, "name": APISchema.text, "version": APISchema.count, "send": APISchema.textOrNull,
        "createdAt": APISchema.time, "changedAt": APISchema.time, "changedBy": APISchema.text,
    ]

    private static let campaign = APISchema.object(
        campaignMembers.merging(["draft": APISchema.described("Missing in lists.", APISchema.any)]) { $1 },
        optional: ["draft"])

    private static let campaignDraft = APISchema.object(
        [
            "name": ["type": "string", "minLength": 1, "maxLength": 100], "draft": APISchema.any,
            "version": APISchema.described("The version that was read; not for a new campaign.", APISchema.count),
        ], optional: ["version"])

    private static let deviceMembers: [String: JSON] = [
        "registration": APISchema.text, "installation": APISchema.textOrNull, "platform": APISchema.text,
        "kind": APISchema.words("native", "template"),
        "handle": APISchema.described("The console shows only its ends.", APISchema.text),
        "handleDigest": APISchema.described("8 hexadecimal digits for comparison.", APISchema.text),
        "tags": APISchema.texts, "user": APISchema.textOrNull, "createdAt": APISchema.time,
        "expiresAt": APISchema.timeOrNull,
    ]

    private static let device = APISchema.object(
        deviceMembers.merging([
            "isRegistered": APISchema.flag,
            "history": APISchema.list(APISchema.object(["at": APISchema.time, "change": APISchema.text])),
            "registrations": APISchema.list(APISchema.any),
            "encryptionKeys": APISchema.list(
                APISchema.object([
                    "use": APISchema.described(
                        "`text`: end-to-end encryption; `push`: messages to the handle.",
                        APISchema.words("text", "push")),
                    "fingerprint": APISchema.described(
                        "The SHA-256 hash as eight groups of five digits, as in `martlet keys`.", APISchema.text),
                ])),
        ]) { $1 }, optional: ["isRegistered", "history", "registrations", "encryptionKeys"])

    private static let formerDevice = APISchema.object(
        deviceMembers.merging([
            "endedAt": APISchema.time,
            "change": APISchema.words("changed", "deleted", "taken", "unregistered", "moved", "expired"),
        ]) { $1 })

    private static let userMembers: [String: JSON] = [
        "name": APISchema.text, "createdAt": APISchema.time, "roles": APISchema.texts,
    ]

    private static let user = APISchema.object(userMembers)

    private static let userDetail = APISchema.object(
        userMembers.merging([
            "sessions": APISchema.described("How many have not expired.", APISchema.count)
        ]) { $1 })

    private static let operatorSchema = APISchema.object([
        "name": APISchema.text, "roles": APISchema.texts, "isDisabled": APISchema.flag, "hasPassword": APISchema.flag,
        "hasFactor": APISchema.flag, "issuer": APISchema.textOrNull, "createdAt": APISchema.time,
        "signedInAt": APISchema.timeOrNull,
        "sessions": APISchema.count, "invitedUntil": APISchema.timeOrNull,
    ])

    private static let link = APISchema.object(
        [
            "name": APISchema.text, "roles": APISchema.texts, "link": APISchema.text, "expiresAt": APISchema.time,
        ], optional: ["roles"])
}
