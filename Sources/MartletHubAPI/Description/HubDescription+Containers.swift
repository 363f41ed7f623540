import MartletHTTP
import MartletModel
import MartletOpenAPI

extension HubDescription {
    var containers: APIGroup {
        let container = "/\(ContainerAPI.segment)/{container}"
        let blob = "\(container)/{blob...}"
        return Self.storageGroup(
            "Containers", "Files of jobs, in the protocol of Azure's blob service, by signed URL.",
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
            method, pattern, id: id, "List blobs; without `comp`, check whether the container exists",
            parameters: Self.listParameters + [APIParameter(.query, "prefix", "The beginning of the names.")],
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
                Self.storageError(416, "The range is outside the blob."),
            ])
    }

    private func writing(_ pattern: String) -> APIOperation {
        APIOperation(
            .put, pattern, id: "putBlob", "Write a whole blob, or a block, or make a blob from blocks",
            parameters: [
                Self.name,
                APIParameter(.query, "comp", "Absent: a whole blob.", schema: ["enum": ["block", "blocklist"]]),
                APIParameter(.query, "blockid", "Base64 of 1 to 64 bytes."),
                APIParameter(.header, "x-ms-blob-type", "Needed for a whole blob.", schema: ["enum": ["BlockBlob"]]),
                Self.ifMatch, APIParameter(.header, "If-None-Match", "`*`: only if the blob does not exist."),
            ], body: [Self.bytes],
            answers: [
                APIAnswer(.created, "It is stored.", headers: Self.storageIDs),
                Self.storageError(.conflict, "The blob exists already, or its name conflicts with that of another."),
                Self.storageError(.preconditionFailed, "It is another version (`If-Match`)."),
                Self.storageError(.insufficientStorage, "The disk is full."),
            ])
    }

    private static let name = APIParameter(.path, "blob", "The name, which may have slashes.")
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
        APIParameter(.query, "sp", "The allowed operations, of `r`, `w`, `d` and `l`."),
    ]

    private static let storageAnswers =
        networkAnswers + [
            refusal(.badRequest, "The request is invalid; the message says why."),
            storageError(.forbidden, "The signature of the URL does not allow this."),
            storageError(.notFound, "There is no such container or blob."),
            refusal(.contentTooLarge, "The body is too large."),
            storageError(501, "The request uses a feature that is not served, such as a copy from a URL or a lease."),
            storageError(.serviceUnavailable, "The storage does not answer now."),
        ]
}
