import MartletModel

/// One page of a listing as an Atom feed.
struct RegistrationFeed {
    /// The URL of the listing, including the query.
    let url: String
    /// The URL of the next page; nil on the last page.
    let nextURL: String?
    let updatedAt: Timestamp
    let entries: [RegistrationEntry]

    func document() -> [UInt8] {
        var writer = XMLWriter(reserving: 512 + 1024 * entries.count)
        writer.element("feed", ["xmlns": XMLNamespace.atom]) { feed in
            feed.element("title", ["type": "text"], text: "Registrations")
            feed.element("id", text: url)
            feed.element("updated", text: updatedAt.iso8601)
            feed.emptyElement("link", ["rel": "self", "href": url])
            if let nextURL { feed.emptyElement("link", ["rel": "next", "href": nextURL]) }
            for entry in entries { entry.append(to: &feed) }
        }
        return writer.bytes
    }
}
