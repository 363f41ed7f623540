import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var management: APIGroup {
        let hub = APIAnswer(.ok, "The hub.", Self.entry, headers: Self.ids)
        return Self.hubGroup(
            "Hubs", "Making, changing and removing hubs, with a key of the namespace; all need Manage.",
            [
                list("/", id: "listHubs"),
                list("/$Resources/NotificationHubs", id: "listHubResources"),
                APIOperation(
                    .put, "/{hub}", id: "putHub", "Create; with `If-Match: *`, change", parameters: [Self.ifMatch],
                    body: Self.atomBody,
                    answers: [
                        hub, APIAnswer(.created, "The new hub.", Self.entry, headers: Self.ids),
                        Self.error(.conflict, "There is one of this name."),
                        Self.error(.preconditionFailed, "A hub has no versions: `If-Match` must be `*`."),
                    ]),
                APIOperation(.get, "/{hub}", id: "getHub", "Read", answers: [hub]),
                APIOperation(
                    .delete, "/{hub}", id: "deleteHub", "Delete with all that is in it",
                    answers: [APIAnswer(.ok, "It is gone.", headers: Self.ids)]),
            ])
    }

    private func list(_ pattern: String, id: String) -> APIOperation {
        let count: JSON = ["type": "integer", "minimum": 0]
        return APIOperation(
            .get, pattern, id: id, "List hubs",
            parameters: [
                APIParameter(.query, "$skip", "How many to leave out.", schema: count),
                APIParameter(.query, "$top", "The most entries.", schema: count),
            ], answers: [APIAnswer(.ok, "The hubs.", Self.feed, headers: Self.ids)])
    }
}
