import MartletCore
import MartletHTTP
import MartletModel

/// The header fields that describe a blob in a response.
enum BlobFields {
    static func fields(of blob: Blob) -> HTTPFields {
        ["etag": blob.entityTag, "last-modified": IMFDate.text(blob.modifiedAt.seconds)]
    }

    /// Returns the response to a GET or HEAD of a whole blob or a range of it.
    static func response(to request: HTTPRequest, _ content: any BlobContent) throws(BlobError) -> HTTPResponse {
        let blob = content.blob
        let whole = HTTPContent(
            length: blob.size, entityTag: blob.entityTag, modifiedAt: blob.modifiedAt.seconds
        ) { offset, count in
            try await content.read(at: offset, count: count)
        }
        do throws(HTTPContent.Refusal) {
            return try whole.response(
                to: request, range: request.fields["x-ms-range"],
                fields: ["content-type": "application/octet-stream", "x-ms-blob-type": "BlockBlob"])
        } catch {
            throw BlobError(error)
        }
    }
}
