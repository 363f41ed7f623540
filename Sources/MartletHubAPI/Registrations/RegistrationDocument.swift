import MartletCore
import MartletModel

/// What a client says of a registration, read from its XML: the platform, the handle and the tags.
///
/// Elements may stand in any order. What only the server says (`ETag`, `ExpirationTime`, `RegistrationId`) is passed
/// over, because clients echo it.
struct RegistrationDocument {
    let platform: PlatformID
    let handle: PushHandle
    let tags: [Tag]

    /// The largest document, in bytes: 60 tags of 120 characters and a long handle fit many times.
    static let sizeLimit = 65_536

    init(_ body: [UInt8], platforms: PushPlatformList) throws(HubAPIError) {
        let root: XMLElement
        do throws(XMLReaderError) {
            root = try XMLReader().read(body)
        } catch {
            throw error == .outOfMemory ? .internalError : .badRequest(error.description)
        }
        let description = try Self.description(in: root)
        let descriptor = try Self.descriptor(of: description, platforms: platforms)
        platform = descriptor.platform
        handle = try Self.handle(in: description, descriptor)
        tags = try Self.tags(description.child("Tags")?.text ?? "")
    }

    private static func description(in root: XMLElement) throws(HubAPIError) -> XMLElement {
        guard root.name == "entry" else { return root }
        guard let description = root.child("content")?.children.first else {
            throw .badRequest("The entry has no content with a registration description")
        }
        return description
    }

    /// The concrete type is the element's name, or the value of `i:type` with a prefix or without.
    private static func descriptor(
        of description: XMLElement, platforms: PushPlatformList
    ) throws(HubAPIError) -> PushPlatformDescriptor {
        let type = description.attributes["type"].map { $0.split(separator: ":").last.map(String.init) ?? "" }
        let name = type ?? description.name
        for platform in platforms {
            let element = platform.descriptor.registrationElement
            if name == "\(element)RegistrationDescription" { return platform.descriptor }
            if name == "\(element)TemplateRegistrationDescription" {
                throw .badRequest("This server does not serve template registrations yet")
            }
        }
        let known = platforms.map { "\($0.descriptor.registrationElement)RegistrationDescription" }
        throw .badRequest(
            "'\(name.prefix(64))' is no registration that this server knows; it knows \(known.joined(separator: ", "))")
    }

    private static func handle(
        in description: XMLElement, _ descriptor: PushPlatformDescriptor
    ) throws(HubAPIError) -> PushHandle {
        var parts: [String] = []
        for element in descriptor.handleElements {
            let text = description.child(element)?.text.trimmed ?? ""
            guard !text.isEmpty else { throw .badRequest("The registration has no \(element)") }
            parts.append(text)
        }
        return PushHandle(parts: parts)
    }

    private static func tags(_ list: String) throws(HubAPIError) -> [Tag] {
        var tags: [Tag] = []
        for (index, part) in list.split(separator: ",").enumerated() {
            let text = part.trimmed
            if text.isEmpty { continue }
            do throws(TagError) {
                tags.append(try Tag(text))
            } catch {
                throw .badRequest("Tag \(index + 1) is not valid: \(error)")
            }
        }
        return tags
    }
}

extension StringProtocol {
    /// Without the white space of XML at either end.
    var trimmed: String {
        let isSpace: (Unicode.Scalar) -> Bool = { [" ", "\t", "\r", "\n"].contains($0) }
        let scalars = unicodeScalars
        guard let first = scalars.firstIndex(where: { !isSpace($0) }),
            let last = scalars.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(self[first...last])
    }
}
