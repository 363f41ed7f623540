import MartletCore
import MartletModel

/// A client's description of a registration, parsed from XML.
///
/// Elements may be in any order. Elements that only the server sets (`ETag`, `ExpirationTime`, `RegistrationId`) are
/// ignored, because some clients send back what they have read, such as the legacy Android client (NotificationHubs.md,
/// section 4.1).
struct RegistrationDocument {
    let platform: PlatformID
    let handle: PushHandle
    let tags: [Tag]
    /// The template, which has not been checked yet; nil in a native registration.
    let template: Template?
    let pushVariables: [String: String]
    let secondaryTile: String?

    /// The maximum size of a document, in bytes: many times the size of 60 tags of 120 characters and a long handle.
    static let sizeLimit = 65_536

    init(_ body: [UInt8], platforms: PushPlatformList) throws(HubAPIError) {
        self = try RegistrationDocument(try Self.description(in: body), platforms: platforms)
    }

    /// - Parameter description: The description element in the entry's content.
    init(_ description: XMLElement, platforms: PushPlatformList) throws(HubAPIError) {
        let (descriptor, isTemplate) = try Self.kind(of: description, platforms: platforms)
        platform = descriptor.platform
        handle = try Self.handle(in: description, descriptor)
        tags = try Self.tags(description.child("Tags")?.text ?? "")
        template = isTemplate ? try TemplateElements(description, descriptor).template : nil
        pushVariables = try Self.pushVariables(description.content("PushVariables"))
        secondaryTile = descriptor.registration.hasSecondaryTiles ? description.content("SecondaryTileName") : nil
    }

    /// Returns the description element of a document: the root, or the child of an entry's content.
    static func description(in body: [UInt8]) throws(HubAPIError) -> XMLElement {
        let root: XMLElement
        do throws(XMLReaderError) {
            root = try XMLReader().read(body)
        } catch {
            throw error == .outOfMemory ? .internalError : .badRequest(error.description)
        }
        guard root.name == "entry" else { return root }
        guard let description = root.child("content")?.children.first else {
            throw .badRequest("The entry has no content with a registration description")
        }
        return description
    }

    /// Returns the platform of a registration, and whether it has a template. Both follow from the value of the
    /// attribute `i:type`, with or without a prefix. If that attribute is missing, both follow from the element's name.
    private static func kind(
        of description: XMLElement, platforms: PushPlatformList
    ) throws(HubAPIError) -> (PushPlatformDescriptor, isTemplate: Bool) {
        let type = description.attributes["type"].map { $0.split(separator: ":").last.map(String.init) ?? "" }
        let name = type ?? description.name
        for platform in platforms {
            let element = platform.descriptor.registration.element
            if name == "\(element)RegistrationDescription" { return (platform.descriptor, false) }
            if name == "\(element)TemplateRegistrationDescription" { return (platform.descriptor, true) }
        }
        let known = platforms.map { "\($0.descriptor.registration.element)RegistrationDescription" }
        throw .badRequest(
            "'\(name.prefix(64))' is no registration that this server knows; it knows \(known.joined(separator: ", "))")
    }

    private static func handle(
        in description: XMLElement, _ descriptor: PushPlatformDescriptor
    ) throws(HubAPIError) -> PushHandle {
        var parts: [String] = []
        for element in descriptor.registration.handleElements {
            guard let text = description.content(element) else {
                throw .badRequest("The registration has no \(element)")
            }
            parts.append(text)
        }
        return PushHandle(parts: parts)
    }

    private static func tags(_ list: String) throws(HubAPIError) -> [Tag] {
        var tags: [Tag] = []
        for (index, part) in list.utf8.split(separator: UInt8(ascii: ",")).enumerated() {
            let text = Substring(part).trimmed
            if text.isEmpty { continue }
            do throws(TagError) {
                tags.append(try Tag(text))
            } catch {
                throw .badRequest("Tag \(index + 1) is not valid: \(error)")
            }
        }
        return tags
    }

    /// Parses a JSON object. Numbers and booleans are converted to text.
    private static func pushVariables(_ text: String?) throws(HubAPIError) -> [String: String] {
        guard let text else { return [:] }
        guard let members = (try? JSON(parsing: Array(text.utf8), maximumDepth: 2))?.object else {
            throw .badRequest("PushVariables must be a JSON object")
        }
        var variables: [String: String] = [:]
        for (name, value) in members {
            switch value {
            case .string(let text): variables[name] = text
            case .integer, .double, .bool: variables[name] = String(decoding: value.bytes, as: UTF8.self)
            case .null: break
            case .array, .object: throw .badRequest("The values of PushVariables must be texts")
            }
        }
        return variables
    }
}

extension XMLElement {
    /// Returns the text of a child element without leading and trailing white space; nil if there is no text.
    func content(_ name: String) -> String? {
        guard let text = child(name)?.text.trimmed, !text.isEmpty else { return nil }
        return text
    }
}

extension StringProtocol {
    /// The text without leading and trailing white space, as defined by XML.
    var trimmed: String {
        let text = Substring(self)
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D || $0 == 0x0A }
        guard let first = text.utf8.firstIndex(where: { !isSpace($0) }),
            let last = text.utf8.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(Substring(text.utf8[first...last]))
    }
}
