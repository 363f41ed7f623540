import MartletCore
import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var registrations: APIGroup {
        Self.hubGroup(
            "Registrations", "Handles with tags, of \(elements), native or with a template.",
            [
                APIOperation(
                    .post, "/{hub}/registrationids", id: "newRegistrationId", "Get an id to register with",
                    answers: [
                        APIAnswer(.created, "Nothing is stored yet.", headers: Self.ids + [Self.location])
                    ]),
                APIOperation(
                    .post, "/{hub}/registrations", id: "createRegistration", "Register under a new id",
                    body: Self.atomBody,
                    answers: [
                        APIAnswer(
                            .ok, "The registration.", Self.entry,
                            headers: Self.ids + [
                                Self.entityTag,
                                APIParameter(
                                    .header, "Content-Location", "The registration's address.", isRequired: true),
                            ])
                    ]),
                APIOperation(
                    .put, "/{hub}/registrations/{id}", id: "putRegistration",
                    "Create or replace; with `If-Match`, only replace",
                    parameters: [Self.ifMatch], body: Self.atomBody,
                    answers: [Self.registration, Self.gone, Self.changed]),
                APIOperation(
                    .get, "/{hub}/registrations/{id}", id: "getRegistration", "Read one", answers: [Self.registration]),
                APIOperation(
                    .delete, "/{hub}/registrations/{id}", id: "deleteRegistration", "Delete",
                    parameters: [Self.ifMatch],
                    answers: [APIAnswer(.ok, "It is gone.", headers: Self.ids), Self.changed]),
                APIOperation(
                    .get, "/{hub}/registrations", id: "listRegistrations",
                    "List all, or with `$filter` those of a handle",
                    parameters: Self.paging + [
                        APIParameter(
                            .query, "$filter", "`\(handleElement) eq 'HANDLE'`: needs Listen; all need Manage.")
                    ], answers: [Self.registrationFeed]),
                APIOperation(
                    .get, "/{hub}/tags/{tag}/registrations", id: "listRegistrationsByTag", "List those with a tag",
                    parameters: Self.paging, answers: [Self.registrationFeed]),
            ])
    }

    private var elements: String {
        platforms.map { "`\($0.descriptor.registration.element)RegistrationDescription`" }.joined(separator: ", ")
    }

    private var handleElement: String {
        platforms.map { $0.descriptor.registration.handleElements[0] }.first ?? "ChannelUri"
    }

    private static let entityTag = APIParameter(.header, "ETag", "The version.", isRequired: true)
    private static let registration = APIAnswer(.ok, "The registration.", entry, headers: ids + [entityTag])
    private static let registrationFeed = APIAnswer(
        .ok, "A page of registrations.", feed,
        headers: ids + [
            APIParameter(.header, "x-ms-continuationtoken", "The token of the next page; absent on the last.")
        ])
    private static let paging = [
        APIParameter(
            .query, "$top", "The most entries of a page; more than \(PageRequest.sizeLimit) are as many.",
            schema: ["type": "integer", "minimum": 1]),
        APIParameter(.query, "continuationtoken", "From `x-ms-continuationtoken`, with the same `$filter`."),
    ]
    private static let gone = error(.gone, "The id is no longer valid; get a new one.")
    private static let changed = error(
        .preconditionFailed, "The registration has another version, or does not exist (`If-Match`).")
}
