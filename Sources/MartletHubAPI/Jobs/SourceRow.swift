public import MartletCore
import MartletModel

/// A registration in another hub's listing, as read by `martlet migrate azure`.
public struct SourceRow: Sendable {
    public enum Content: Sendable {
        case registration(RegistrationDraft)
        /// A registration of an installation. The draft's tags include the system tags.
        case installation(id: String, RegistrationDraft)
        /// The registration cannot be stored. The value is the reason, a sentence without the handle.
        case refused(String)
    }

    public let id: String
    /// The entity tag, which changes with each write at the source.
    public let entityTag: String
    /// The platform; if the platform is unknown, the name of the description element.
    public let platform: String
    public let content: Content
}

extension RegistrationLines {
    /// Returns the registrations on one page of a listing (an Atom feed).
    /// - Parameter limit: The maximum number of registrations on a page that the source was asked for.
    /// - Throws: `JobLineError` if the document is not a feed, or has more registrations than `limit`. A registration
    ///   that cannot be stored is returned as `refused`.
    public func rows(ofFeed feed: [UInt8], in hub: Hub.ID, atMost limit: Int) throws(JobLineError) -> [SourceRow] {
        let root: XMLElement
        do throws(XMLReaderError) {
            var reader = XMLReader()
            reader.elementLimit = 16_384
            root = try reader.read(feed)
        } catch {
            throw JobLineError(error.description)
        }
        guard root.name == "feed" else { throw JobLineError("The source's answer is not a listing of registrations.") }
        let entries = root.children.filter { $0.name == "entry" }
        guard entries.count <= limit else {
            throw JobLineError(
                "A page of the source has \(entries.count) registrations, and \(limit) were asked for: the source is no "
                    + "hub at Azure.")
        }
        return entries.compactMap { entry in
            guard let description = entry.child("content")?.children.first else { return nil }
            return row(description, in: hub)
        }
    }

    private func row(_ description: XMLElement, in hub: Hub.ID) -> SourceRow {
        let id = description.content("RegistrationId") ?? ""
        var platform = description.name
        let content: SourceRow.Content
        do throws(HubAPIError) {
            let document = try RegistrationDocument(description, platforms: platforms)
            platform = document.platform.rawValue
            let part = try InstallationLine(document, description, platforms).part
            _ = try Self.needed(id.isEmpty ? nil : id)
            let draft = try draft(document, in: hub)
            content = part.map { .installation(id: $0.installation, draft) } ?? .registration(draft)
        } catch {
            content = .refused(error.sentence + ".")
        }
        return SourceRow(
            id: id, entityTag: description.content("ETag") ?? "", platform: platform, content: content)
    }
}
