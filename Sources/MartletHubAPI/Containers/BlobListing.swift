import MartletCore
import MartletHTTP
import MartletModel

/// A listing of a container, in the format of Azure's blob service.
struct BlobListing {
    /// The maximum number of blobs on one page.
    private static let limit = 5000

    let query: BlobQuery
    private let marker: String?

    init(_ call: ContainerCall) throws(BlobError) {
        marker = call.query("marker")
        let wanted = call.query("maxresults")
        guard let limit = wanted.map({ Int($0) }) ?? Self.limit, limit > 0 else { throw .badPageSize }
        query = BlobQuery(
            container: call.container, prefix: call.query("prefix") ?? "", after: marker,
            limit: min(limit, Self.limit))
    }

    func document(_ page: BlobPage) -> [UInt8] {
        var writer = XMLWriter(reserving: 512 + 512 * page.blobs.count)
        writer.declaration()
        writer.element("EnumerationResults", ["ContainerName": query.container.text]) { results in
            if !query.prefix.isEmpty { results.element("Prefix", text: query.prefix) }
            if let marker { results.element("Marker", text: marker) }
            results.element("MaxResults", text: String(query.limit))
            results.element("Blobs") { blobs in
                for blob in page.blobs { Self.write(blob, &blobs) }
            }
            results.element("NextMarker", text: page.hasMore ? page.blobs.last?.name.text ?? "" : "")
        }
        return writer.bytes
    }

    private static func write(_ blob: Blob, _ writer: inout XMLWriter) {
        writer.element("Blob") { element in
            element.element("Name", text: blob.name.text)
            element.element("Properties") { properties in
                properties.element("Last-Modified", text: IMFDate.text(blob.modifiedAt.seconds))
                properties.element("Etag", text: blob.entityTag.filter { $0 != "\"" })
                properties.element("Content-Length", text: String(blob.size))
                properties.element("Content-Type", text: "application/octet-stream")
                properties.element("BlobType", text: "BlockBlob")
            }
        }
    }
}
