import MartletCore
import MartletHTTP

/// A listing of a hub's feedback files, oldest first, in the format in which Azure's blob service lists containers.
struct FeedbackListing {
    /// The maximum number of names on one page.
    private static let limit = 1000

    /// The last notification of the previous page; nil for the first page.
    let marker: NotificationID?
    let limit: Int

    init(_ target: HTTPTarget) throws(BlobError) {
        if target.item("prefix")?.value?.isEmpty == false { throw .notServed("a prefix of feedback") }
        let marker = target.item("marker")?.value ?? ""
        self.marker = FeedbackAddress.notification(ofFile: marker)
        guard self.marker != nil || marker.isEmpty else {
            throw BlobError(.badRequest, "OutOfRangeQueryParameterValue", "The marker is none that this server gave.")
        }
        let wanted = target.item("maxresults")?.value
        guard let limit = wanted.map({ Int($0) }) ?? Self.limit, limit > 0 else { throw .badPageSize }
        self.limit = min(limit, Self.limit)
    }

    /// Returns one page of the listing.
    /// - Parameter found: At most `limit + 1` notifications; the extra one shows that there is another page.
    func document(_ found: [NotificationID], container: String) -> [UInt8] {
        let page = found.prefix(limit)
        var writer = XMLWriter(reserving: 256 + 256 * page.count)
        writer.declaration()
        writer.element("EnumerationResults", ["ContainerName": container]) { results in
            results.element("Blobs") { blobs in
                for id in page {
                    blobs.element("Blob") { blob in
                        blob.element("Name", text: FeedbackAddress.fileName(of: id))
                        blob.element("Properties") { properties in
                            properties.element("Content-Type", text: FeedbackRoutes.contentType)
                            properties.element("BlobType", text: "BlockBlob")
                        }
                    }
                }
            }
            let next = found.count > page.count ? page.last : nil
            results.element("NextMarker", text: next.map(FeedbackAddress.fileName(of:)) ?? "")
        }
        return writer.bytes
    }
}
