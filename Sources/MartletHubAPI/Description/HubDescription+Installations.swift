import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var installations: APIGroup {
        let path = "/{hub}/installations/{id}"
        let installation: JSON = ["$ref": "#/components/schemas/Installation"]
        let isThere = APIAnswer(.ok, "It is stored.", headers: Self.ids)
        return Self.hubGroup(
            "Installations", "An app on a device, under an id that the app chose.",
            [
                APIOperation(
                    .put, path, id: "putInstallation", "Create or replace",
                    body: [.json(["$ref": "#/components/schemas/InstallationDraft"])], answers: [isThere]),
                APIOperation(
                    .get, path, id: "getInstallation", "Read",
                    answers: [APIAnswer(.ok, "The installation.", .json(installation), headers: Self.ids)]),
                APIOperation(
                    .patch, path, id: "patchInstallation", "Change parts, with a subset of JSON Patch (RFC 6902)",
                    body: [
                        .json(["$ref": "#/components/schemas/InstallationPatch"]),
                        APIContent(
                            "application/json-patch+json", ["$ref": "#/components/schemas/InstallationPatch"]),
                    ], answers: [isThere]),
                APIOperation(
                    .delete, path, id: "deleteInstallation", "Delete; an unknown one counts as deleted",
                    answers: [APIAnswer(.noContent, "The installation does not exist.", headers: Self.ids)]),
            ])
    }

    static let installationSchemas: [String: JSON] = [
        "InstallationDraft": object(required: ["platform", "pushChannel"], installationMembers(isDraft: true)),
        "Installation": object(
            required: ["installationId", "platform", "pushChannel", "pushChannelExpired", "expirationTime"],
            installationMembers(isDraft: false)),
        "Template": object(
            required: ["body"],
            [
                "body": ["type": "string", "minLength": 1], "headers": texts, "expiry": ["type": "string"],
                "tags": tags,
            ]),
        "SecondaryTile": object(
            required: ["pushChannel"],
            ["pushChannel": channel, "pushChannelExpired": ["type": "boolean"], "tags": tags, "templates": templates]),
        "InstallationPatch": [
            "type": "array", "maxItems": .integer(Int64(InstallationPatch.countLimit)),
            "items": object(
                required: ["op", "path"],
                [
                    "op": ["enum": ["add", "replace", "remove"]], "path": ["type": "string", "pattern": "^/"],
                    "value": [:],
                ]),
        ],
    ]

    private static func installationMembers(isDraft: Bool) -> [String: JSON] {
        let text: JSON = ["type": isDraft ? ["string", "null"] : "string"]
        return [
            "installationId": text, "userId": text, "platform": ["type": "string", "minLength": 1],
            "pushChannel": channel, "pushChannelExpired": ["type": isDraft ? ["boolean", "null"] : "boolean"],
            "expirationTime": isDraft ? text : ["type": "string", "format": "date-time"],
            "tags": tags, "pushVariables": texts, "templates": templates,
            "secondaryTiles": [
                "type": "object", "additionalProperties": ["$ref": "#/components/schemas/SecondaryTile"],
            ],
        ]
    }

    static func object(required: [JSON], _ members: [String: JSON]) -> JSON {
        ["type": "object", "required": .array(required), "properties": .object(members)]
    }

    private static let channel: JSON = ["anyOf": [["type": "string", "minLength": 1], ["type": "object"]]]
    private static let texts: JSON = ["type": "object", "additionalProperties": ["type": "string"]]
    private static let tags: JSON = ["type": "array", "items": ["type": "string"]]
    private static let templates: JSON = [
        "type": "object", "additionalProperties": ["$ref": "#/components/schemas/Template"],
    ]
}
