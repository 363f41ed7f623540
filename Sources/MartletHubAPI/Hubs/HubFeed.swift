import MartletModel

/// A listing of hubs as an Atom feed.
struct HubFeed {
    /// The URL of the listing, including the query.
    let url: String
    let updatedAt: Timestamp
    let entries: [HubEntry]

    func document() -> [UInt8] {
        var writer = XMLWriter(reserving: 512 + 4096 * entries.count)
        writer.element("feed", ["xmlns": XMLNamespace.atom]) { feed in
            feed.element("title", ["type": "text"], text: "NotificationHubs")
            feed.element("id", text: url)
            feed.element("updated", text: updatedAt.iso8601)
            feed.emptyElement("link", ["rel": "self", "href": url])
            for entry in entries { entry.append(to: &feed) }
        }
        return writer.bytes
    }
}
