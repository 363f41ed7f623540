import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var management: APIGroup {
        let hub = APIAnswer(.ok, "The hub.", Self.entry, headers: Self.ids)
        return Self.hubGroup(
            "Hubs", "Creating, changing and deleting hubs, with a key of the namespace; all operations need Manage.",
            [
                list("/", id: "listHubs"),
                list("/$Resources/NotificationHubs", id: "listHubResources"),
                APIOperation(
                    .put, "/{hub}", id: "putHub", "Create; with `If-Match: *`, change", parameters: [Self.ifMatch],
                    body: Self.atomBody,
                    answers: [
                        hub, APIAnswer(.created, "The new hub.", Self.entry, headers: Self.ids),
                        Self.error(.conflict, "A hub with this name exists already."),
                        Self.error(.preconditionFailed, "A hub has no versions: `If-Match` must be `*`."),
                    ]),
                APIOperation(.get, "/{hub}", id: "getHub", "Read", answers: [hub]),
                APIOperation(
                    .delete, "/{hub}", id: "deleteHub", "Delete with all its data",
                    answers: [APIAnswer(.ok, "It is gone.", headers: Self.ids)]),
                APIOperation(
                    .get, "/{hub}/sending", id: "getSending",
                    "Read the hub's settings for sends: testers, and the app in previews",
                    answers: [APIAnswer(.ok, "It.", Self.sending, headers: Self.ids)]),
                APIOperation(
                    .put, "/{hub}/sending", id: "putSending", "Replace the hub's settings for sends",
                    body: [Self.sending],
                    answers: [APIAnswer(.ok, "The new settings.", Self.sending, headers: Self.ids)]),
            ])
    }

    private static let sending = APIContent.json(["$ref": "#/components/schemas/SendingSettings"])

    static let sendingSchemas: [String: JSON] = [
        "SendingSettings": [
            "type": "object", "additionalProperties": false,
            "properties": [
                "testers": [
                    "type": ["string", "null"], "description": "A tag expression for the testers' devices.",
                ],
                "app": [
                    "type": ["object", "null"], "additionalProperties": false, "description": "Shown in previews.",
                    "properties": [
                        "name": ["type": ["string", "null"], "maxLength": 64],
                        "icon": ["type": ["string", "null"], "description": "An https address.", "maxLength": 2048],
                    ],
                ],
            ],
        ]
    ]

    private func list(_ pattern: String, id: String) -> APIOperation {
        let count: JSON = ["type": "integer", "minimum": 0]
        return APIOperation(
            .get, pattern, id: id, "List hubs",
            parameters: [
                APIParameter(.query, "$skip", "The number of entries to skip.", schema: count),
                APIParameter(.query, "$top", "The maximum number of entries.", schema: count),
            ], answers: [APIAnswer(.ok, "The hubs.", Self.feed, headers: Self.ids)])
    }
}
