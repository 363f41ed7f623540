import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var containers: APIGroup {
        let container = "/\(ContainerAPI.segment)/{container}"
        let blob = "\(container)/{blob...}"
        return Self.storageGroup(
            "Containers", "Blobs as files, as the clients of blob services speak, by signed URL.",
            [
                listing(.get, container, id: "listBlobs"), listing(.head, container, id: "headContainer"),
                reading(.get, blob, id: "getBlob"), reading(.head, blob, id: "headBlob"),
                writing(blob),
                APIOperation(
                    .delete, blob, id: "deleteBlob", "Delete", parameters: [Self.name],
                    answers: [APIAnswer(202, "It is gone.", headers: Self.storageIDs)]),
            ])
    }

    private func listing(_ method: HTTPMethod, _ pattern: String, id: String) -> APIOperation {
        APIOperation(
            method, pattern, id: id, "List blobs; without `comp`, ask whether the container is there",
            parameters: Self.listParameters + [APIParameter(.query, "prefix", "What names begin with.")],
            answers: [Self.blobPage])
    }

    private func reading(_ method: HTTPMethod, _ pattern: String, id: String) -> APIOperation {
        APIOperation(
            method, pattern, id: id, "Read a blob, whole or in part",
            parameters: [
                Self.name, APIParameter(.header, "Range"), APIParameter(.header, "x-ms-range"), Self.ifMatch,
                APIParameter(.header, "If-None-Match"),
            ],
            answers: [
                APIAnswer(.ok, "The blob.", Self.bytes, headers: Self.storageIDs),
                APIAnswer(206, "The part.", Self.bytes, headers: Self.storageIDs),
                APIAnswer(304, "It is the version that the caller has."),
                Self.storageError(.preconditionFailed, "It is another version (`If-Match`)."),
                Self.storageError(416, "The range lies outside."),
            ])
    }

    private func writing(_ pattern: String) -> APIOperation {
        APIOperation(
            .put, pattern, id: "putBlob", "Write a blob whole, or a block of it, or make it of blocks",
            parameters: [
                Self.name,
                APIParameter(.query, "comp", "Absent: a whole blob.", schema: ["enum": ["block", "blocklist"]]),
                APIParameter(.query, "blockid", "Base64 of 1 to 64 bytes."),
                APIParameter(.header, "x-ms-blob-type", "Needed for a whole blob.", schema: ["enum": ["BlockBlob"]]),
                Self.ifMatch, APIParameter(.header, "If-None-Match", "`*`: only where there is none."),
            ], body: [Self.bytes],
            answers: [
                APIAnswer(.created, "It is stored.", headers: Self.storageIDs),
                Self.storageError(.conflict, "There is one already, or its name collides with another's."),
                Self.storageError(.preconditionFailed, "It is another version (`If-Match`)."),
                Self.storageError(.insufficientStorage, "The disk is full."),
            ])
    }

    private static let name = APIParameter(.path, "blob", "May have slashes.")
    private static let bytes = APIContent("application/octet-stream")

    // MARK: Common parts of operations with signed URLs

    static func storageGroup(_ name: String, _ text: String, _ operations: [APIOperation]) -> APIGroup {
        APIGroup(
            name, text, security: [Scheme.signedURL], parameters: signature, answers: storageAnswers,
            operations: operations)
    }

    static let listParameters = [
        APIParameter(.query, "comp", schema: ["enum": ["list"]]), APIParameter(.query, "restype"),
        APIParameter(.query, "marker", "`NextMarker`."),
        APIParameter(.query, "maxresults", schema: ["type": "integer", "minimum": 1]),
    ]
    static let blobPage = APIAnswer(.ok, "A page of blobs.", APIContent("application/xml"), headers: storageIDs)
    static let storageIDs = [
        APIParameter(.header, "x-ms-version", isRequired: true),
        APIParameter(.header, "x-ms-request-id", isRequired: true),
    ]

    private static func storageError(_ status: HTTPStatus, _ text: String) -> APIAnswer {
        APIAnswer(status, text, APIContent("application/xml"), headers: storageIDs)
    }

    private static let signature = [
        APIParameter(.query, "sv", "The version of the signature."), APIParameter(.query, "se", "When it expires."),
        APIParameter(.query, "sr", "`c` for a container, `b` for a blob."),
        APIParameter(.query, "sp", "What it allows, of `r`, `w`, `d` and `l`."),
    ]

    private static let storageAnswers =
        networkAnswers + [
            refusal(.badRequest, "The request is wrong; the message says how."),
            storageError(.forbidden, "The URL is not signed for this."),
            storageError(.notFound, "There is no such container or blob."),
            refusal(.contentTooLarge, "The body is too large."),
            storageError(.serviceUnavailable, "The storage does not answer now."),
        ]
}
