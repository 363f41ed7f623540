import MartletCore
import MartletModel

/// A hub as an Atom entry. Clients depend on the order of the elements (NotificationHubs.md, section 13.2). Only the
/// names of credential properties in section 13.3 are written, because the Java client throws on any other name.
struct HubEntry {
    let hub: Hub
    let platforms: PushPlatformList
    /// The absolute URL of the entry, including the query.
    let url: String
    let namespace: String

    /// The positions that the elements other than credentials have among all elements of the description
    /// (NotificationHubs.md, section 13.2).
    private enum Place {
        static let registrationTTL = 1
        static let accessRules = 3
        static let userMetadata = 9
    }

    /// Returns the entry as a separate document.
    func document() -> [UInt8] {
        var writer = XMLWriter(reserving: 4096)
        writer.element("entry", ["xmlns": XMLNamespace.atom], write)
        return writer.bytes
    }

    /// Appends the entry to a feed, which already declares the Atom namespace.
    func append(to feed: inout XMLWriter) {
        feed.element("entry") { write(&$0) }
    }

    private func write(_ entry: inout XMLWriter) {
        entry.element("id", text: url)
        entry.element("title", ["type": "text"], text: hub.name)
        entry.element("published", text: hub.createdAt.secondsText)
        entry.element("updated", text: hub.modifiedAt.secondsText)
        entry.element("author") { $0.element("name", text: namespace) }
        entry.emptyElement("link", ["rel": "self", "href": url])
        entry.element("content", ["type": "application/xml"]) { content in
            content.element(
                HubDocument.name, ["xmlns": XMLNamespace.service, "xmlns:i": XMLNamespace.instance], writeDescription)
        }
    }

    private func writeDescription(_ description: inout XMLWriter) {
        let settings = hub.settings
        writeCredentials(0..<Place.registrationTTL, to: &description)
        description.element("RegistrationTtl", text: XMLDuration(settings.registrationTTL).text)
        writeCredentials(Place.registrationTTL..<Place.accessRules, to: &description)
        description.element("AuthorizationRules") { rules in
            for rule in settings.accessRules { AccessRuleDocument.write(rule, to: &rules) }
        }
        writeCredentials(Place.accessRules..<Place.userMetadata, to: &description)
        if let metadata = settings.userMetadata { description.element("UserMetadata", text: metadata) }
        writeCredentials(Place.userMetadata...Int.max, to: &description)
    }

    /// Writes the credentials whose positions are in a range, without their secrets.
    private func writeCredentials(_ indices: some RangeExpression<Int>, to description: inout XMLWriter) {
        let descriptors = platforms.map { $0.descriptor }
            .compactMap { descriptor in descriptor.credential.index.map { (index: $0, descriptor: descriptor) } }
            .filter { indices.contains($0.index) }
        for (_, descriptor) in descriptors.sorted(by: { $0.index < $1.index }) {
            guard let credential = hub.settings.credentials[descriptor.platform] else { continue }
            let shown = descriptor.shown(credential)
            description.element(descriptor.credential.element) { element in
                element.element("Properties") { properties in
                    for field in descriptor.credential.fields {
                        guard let value = shown[field.name] else { continue }
                        properties.element("Property") { property in
                            property.element("Name", text: field.name)
                            property.element("Value", text: value)
                        }
                    }
                }
            }
        }
    }
}

extension Timestamp {
    /// The timestamp in ISO 8601 without a fraction of a second.
    fileprivate var secondsText: String { "\(iso8601.prefix(19))Z" }
}
