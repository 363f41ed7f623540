import MartletCore
import MartletModel

/// What a client says of a hub, read from its XML (wire document, section 13).
///
/// It replaces everything: what a document does not say returns to its default, with these exceptions.
///
/// - A document without access rules says nothing of them: the Java client never writes any, and a hub without rules is
///   one that nobody can reach.
/// - Secrets of credentials never stand in what is read from this server, and clients write back what they have read.
///   A credential that says nothing but what was shown of the stored one therefore is the stored one, secrets included.
///   (Not all that was shown need be there: the Java client drops what belongs to signing keys.) One that says anything
///   else is taken as it is, and must be complete: were the rest of a credential to change under its secrets, whoever
///   may change an endpoint could have them sent there.
/// - Credentials that are never shown stay unless the document has others in their place.
struct HubDocument {
    private let accessRules: [AccessRuleDocument]
    /// Names of properties with their values, for each platform that the document speaks of.
    private let credentials: [PlatformID: [String: String]]
    private let registrationTTL: Duration?
    private let userMetadata: String?
    private let descriptors: [PlatformID: PushPlatformDescriptor]

    /// The largest document, in bytes: a dozen rules and a few certificates fit many times.
    static let sizeLimit = 262_144

    init(_ body: [UInt8], platforms: PushPlatformList) throws(HubAPIError) {
        let root: XMLElement
        do throws(XMLReaderError) {
            root = try XMLReader().read(body)
        } catch {
            throw error == .outOfMemory ? .internalError : .badRequest(error.description)
        }
        let description = root.name == "entry" ? root.child("content")?.children.first : root
        guard let description, description.name == Self.name else {
            throw .badRequest("The body has no \(Self.name)")
        }
        var rules: [AccessRuleDocument] = []
        for element in description.child("AuthorizationRules")?.children ?? [] {
            rules.append(try AccessRuleDocument(element))
        }
        accessRules = rules
        descriptors = Dictionary(
            uniqueKeysWithValues: platforms.map { ($0.descriptor.platform, $0.descriptor) })
        credentials = try Self.credentials(in: description, Array(descriptors.values))
        registrationTTL = try Self.registrationTTL(description.child("RegistrationTtl")?.value)
        userMetadata = description.child("UserMetadata")?.value
    }

    static let name = "NotificationHubDescription"

    /// Puts what the document says in the place of `settings`.
    func apply(to settings: inout HubSettings, at now: Timestamp) {
        let old = settings
        if !accessRules.isEmpty {
            settings.accessRules = accessRules.map { rule in
                rule.rule(replacing: old.accessRules.first { $0.name == rule.name }, at: now)
            }
        }
        settings.credentials = old.credentials.filter { descriptors[$0.key]?.credentialPlace == nil }
        for (platform, properties) in credentials {
            settings.credentials[platform] = credential(properties, replacing: old.credentials[platform], on: platform)
        }
        settings.registrationTTL = registrationTTL
        settings.userMetadata = userMetadata
    }

    private func credential(
        _ properties: [String: String], replacing stored: Credential?, on platform: PlatformID
    ) -> Credential {
        if let stored, let shown = descriptors[platform]?.shown(stored),
            properties.allSatisfy({ shown[$0.key] == $0.value })
        {
            return stored
        }
        return Credential(properties)
    }

    private static func credentials(
        in description: XMLElement, _ descriptors: [PushPlatformDescriptor]
    ) throws(HubAPIError) -> [PlatformID: [String: String]] {
        var credentials: [PlatformID: [String: String]] = [:]
        for element in description.children where element.name.hasSuffix("Credential") && !element.isNil {
            let properties = properties(of: element)
            guard let descriptor = descriptors.first(where: { $0.credentialElement == element.name }) else {
                if properties.isEmpty { continue }
                throw .badRequest("This server has no push service that takes a \(element.name.prefix(64))")
            }
            // Clients also hand back what only the original hub knows, such as a thumbprint.
            let names = Set(descriptor.credentialFields.lazy.filter { !$0.isExtension }.map(\.name))
            credentials[descriptor.platform] = properties.filter { names.contains($0.key) }
        }
        return credentials
    }

    private static func properties(of credential: XMLElement) -> [String: String] {
        var properties: [String: String] = [:]
        for property in credential.child("Properties")?.children ?? [] where property.name == "Property" {
            guard let name = property.child("Name")?.value, let value = property.child("Value")?.value else { continue }
            properties[name] = value
        }
        return properties
    }

    private static func registrationTTL(_ text: String?) throws(HubAPIError) -> Duration? {
        guard let text else { return nil }
        guard let duration = XMLDuration(text) else {
            throw .badRequest("RegistrationTtl must be a duration such as P90D")
        }
        return duration.duration
    }
}

extension PushPlatformDescriptor {
    /// The properties of a credential as whoever manages the hub may see them.
    func shown(_ credential: Credential) -> [String: String] {
        var shown: [String: String] = [:]
        for field in credentialFields where !field.isSecret && !field.isExtension {
            // Trimmed, as it reads when a client hands it back.
            let value = (credential.properties[field.name] ?? "").trimmed
            shown[field.name] = value.isEmpty ? field.impliedValue : value
        }
        return shown
    }
}

extension XMLElement {
    /// The text; nil where there is none, or the `null` that the Java client writes for what it does not have.
    var value: String? {
        let text = text.trimmed
        return text.isEmpty || text == "null" ? nil : text
    }
}
