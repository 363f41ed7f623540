import MartletCore
import MartletModel

/// A registration as an Atom entry. Clients depend on the order of the elements (NotificationHubs.md, section 4.2).
struct RegistrationEntry {
    let registration: Registration
    let descriptor: PushPlatformDescriptor
    /// The absolute URL of the entry, including the query.
    let url: String

    /// Returns the entry as a separate document.
    func document() -> [UInt8] {
        var writer = XMLWriter()
        let tag = EntityTag.text(registration.version)
        writer.element(
            "entry", ["a:etag": tag, "xmlns": XMLNamespace.atom, "xmlns:a": XMLNamespace.metadata], write)
        return writer.bytes
    }

    /// Appends the entry to a feed, which already declares the Atom namespace.
    func append(to feed: inout XMLWriter) {
        let tag = EntityTag.text(registration.version)
        feed.element("entry", ["a:etag": tag, "xmlns:a": XMLNamespace.metadata], write)
    }

    /// Returns true if the entry must be omitted from a feed for this client.
    /// - Parameter client: The client's `User-Agent` in lower case.
    func isHidden(from client: String) -> Bool { descriptor.registration.hiddenFrom.contains { client.contains($0) } }

    private func write(_ entry: inout XMLWriter) {
        entry.element("id", text: url)
        entry.element("title", ["type": "text"], text: registration.id)
        entry.element("published", text: registration.createdAt.iso8601)
        entry.element("updated", text: registration.updatedAt.iso8601)
        entry.emptyElement("link", ["rel": "self", "href": url])
        entry.element("content", ["type": "application/xml"]) { content in
            content.element(
                elementName,
                ["xmlns": XMLNamespace.service, "xmlns:i": XMLNamespace.instance], writeDescription)
        }
    }

    /// The description element as a separate document, in the format of the .NET serialiser. Exports contain this
    /// document as a line.
    var description: [UInt8] {
        var writer = XMLWriter()
        writer.element(
            elementName, ["xmlns:i": XMLNamespace.instance, "xmlns": XMLNamespace.service], writeDescription)
        return writer.bytes
    }

    private var elementName: String {
        let kind = registration.template == nil ? "" : "Template"
        return "\(descriptor.registration.element)\(kind)RegistrationDescription"
    }

    private func writeDescription(_ description: inout XMLWriter) {
        description.element("ETag", text: String(registration.version))
        description.element("ExpirationTime", text: (registration.expiresAt ?? .distantFuture).iso8601)
        description.element("RegistrationId", text: registration.id)
        if !registration.tags.isEmpty {
            description.element("Tags", text: registration.tags.map(\.spelling).joined(separator: ","))
        }
        if !registration.pushVariables.isEmpty {
            let variables = JSON.object(registration.pushVariables.mapValues(JSON.string))
            description.element("PushVariables", text: String(decoding: variables.bytes, as: UTF8.self))
        }
        for (element, part) in zip(descriptor.registration.handleElements, registration.handle.parts) {
            description.element(element, text: part)
        }
        if let tile = registration.secondaryTile { description.element("SecondaryTileName", text: tile) }
        if let template = registration.template {
            TemplateElements.write(template, descriptor, to: &description)
        }
    }
}
