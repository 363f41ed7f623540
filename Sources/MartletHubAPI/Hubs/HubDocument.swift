import MartletCore
import MartletModel

/// A client's description of a hub, parsed from XML (NotificationHubs.md, section 13).
///
/// It replaces all settings: a missing element resets its setting to the default, with these exceptions.
///
/// - A document without access rules leaves the rules unchanged: the Java client never writes any, and nobody could
///   access a hub without rules.
/// - Secrets of credentials are never in what is read from this server, and clients write back what they have read.
///   A credential without secrets whose addresses are those that were shown therefore changes the stored one and keeps
///   its secrets. (Not all that was shown need be there: the Java client drops what belongs to signing keys.) One with a
///   secret or with another address is taken as it is and must be complete: were an address to change while the secrets
///   stay, anyone who may change it could have them sent there.
/// - Credentials that are never shown stay unless the document replaces them.
struct HubDocument {
    private let accessRules: [AccessRuleDocument]
    /// The credential properties by name, for each platform in the document.
    private let credentials: [PlatformID: [String: String]]
    private let registrationTTL: Duration?
    private let userMetadata: String?
    private let descriptors: [PlatformID: PushPlatformDescriptor]

    /// The largest document, in bytes: many times the size of a dozen rules and a few certificates.
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

    /// Applies the document to `settings`.
    func apply(to settings: inout HubSettings, at now: Timestamp) {
        let old = settings
        if !accessRules.isEmpty {
            settings.accessRules = accessRules.map { rule in
                rule.rule(replacing: old.accessRules.first { $0.name == rule.name }, at: now)
            }
        }
        settings.credentials = old.credentials.filter { descriptors[$0.key]?.credential.index == nil }
        for (platform, properties) in credentials {
            settings.credentials[platform] = credential(properties, replacing: old.credentials[platform], on: platform)
        }
        settings.registrationTTL = registrationTTL
        settings.userMetadata = userMetadata
    }

    private func credential(
        _ properties: [String: String], replacing stored: Credential?, on platform: PlatformID
    ) -> Credential {
        guard let stored, let descriptor = descriptors[platform],
            descriptor.keepsSecrets(of: stored, in: properties)
        else { return Credential(properties) }
        let shown = descriptor.shown(stored)
        // A property that equals the shown value keeps its stored value, so an implied default stays unset.
        let changes = properties.filter { shown[$0.key] != $0.value }
        return Credential(stored.properties.merging(changes) { _, new in new })
    }

    private static func credentials(
        in description: XMLElement, _ descriptors: [PushPlatformDescriptor]
    ) throws(HubAPIError) -> [PlatformID: [String: String]] {
        var credentials: [PlatformID: [String: String]] = [:]
        for element in description.children where element.name.hasSuffix("Credential") && !element.isNil {
            let properties = properties(of: element)
            guard let descriptor = descriptors.first(where: { $0.credential.element == element.name }) else {
                if properties.isEmpty { continue }
                throw .badRequest("This server has no push service that takes a \(element.name.prefix(64))")
            }
            // Clients also send back properties that only the original hub has, such as a thumbprint.
            let names = Set(descriptor.credential.fields.lazy.filter { !$0.isExtension }.map(\.name))
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
    /// Whether a document's properties change nothing but what the secrets of the stored credential do not depend on:
    /// they have no secret, and no address other than the one that was shown.
    fileprivate func keepsSecrets(of stored: Credential, in properties: [String: String]) -> Bool {
        let shown = shown(stored)
        return credential.fields.allSatisfy { field in
            guard let value = properties[field.name] else { return true }
            return !field.isSecret && (!field.isAddress || shown[field.name] == value)
        }
    }

    /// The properties of a credential as managers of the hub may see them.
    func shown(_ credential: Credential) -> [String: String] {
        var shown: [String: String] = [:]
        for field in self.credential.fields where !field.isSecret && !field.isExtension {
            // Trimmed, as it reads when a client hands it back.
            let value = (credential.properties[field.name] ?? "").trimmed
            shown[field.name] = value.isEmpty ? field.impliedValue : value
        }
        return shown
    }
}

extension XMLElement {
    /// The text; nil if it is missing, or is the `null` that the Java client writes for missing values.
    var value: String? {
        let text = text.trimmed
        return text.isEmpty || text == "null" ? nil : text
    }
}
