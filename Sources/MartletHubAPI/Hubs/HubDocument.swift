import MartletCore
import MartletModel

/// A client's description of a hub, parsed from XML (NotificationHubs.md, section 13).
///
/// The document replaces all settings: a setting whose element is missing is reset to its default, with these
/// exceptions.
///
/// - A document without access rules leaves the rules unchanged: the Java client never writes rules, and a hub without
///   rules would be inaccessible.
/// - Answers of this server never contain a credential's secrets, and clients send back the answers that they have
///   read. A credential that has no secrets, and whose addresses equal those in the answer, therefore changes the
///   stored credential and keeps its secrets. Such a credential may omit other properties, because the Java client
///   drops the properties of signing keys. A credential with a secret or a different address replaces the stored one
///   and must be complete: if the address could change while the secrets stay, anyone with the right to change it could
///   have the secrets sent to an address of their choice.
/// - Credentials that are never included in answers stay unchanged unless the document replaces them.
struct HubDocument {
    private let accessRules: [AccessRuleDocument]
    /// The credential properties by name, for each platform in the document.
    private let credentials: [PlatformID: [String: String]]
    private let registrationTTL: Duration?
    private let userMetadata: String?
    private let descriptors: [PlatformID: PushPlatformDescriptor]

    /// The maximum size of a document, in bytes: many times the size of a dozen rules and a few certificates.
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

    /// Replaces a hub's settings with those of the document. Settings that the document leaves out are reset to their
    /// defaults, with the exceptions that the description of this type lists.
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
        // Only properties that differ from the shown values are changed. So an implied value, which is shown but not
        // stored, is not stored when a client sends it back.
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
            // Unknown properties are ignored, because clients also send back properties that only the original hub has,
            // such as a thumbprint.
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
    /// Returns whether the stored secrets can be kept if these properties change the credential. The properties must
    /// contain no secret, and no address that differs from the shown one.
    fileprivate func keepsSecrets(of stored: Credential, in properties: [String: String]) -> Bool {
        let shown = shown(stored)
        return credential.fields.allSatisfy { field in
            guard let value = properties[field.name] else { return true }
            return !field.isSecret && (!field.isAddress || shown[field.name] == value)
        }
    }

    /// Returns the properties of a credential that managers of the hub may see.
    func shown(_ credential: Credential) -> [String: String] {
        var shown: [String: String] = [:]
        for field in self.credential.fields where !field.isSecret && !field.isExtension {
            // Values from clients are trimmed when they are read. This value is trimmed too, so that it is equal when a
            // client sends it back unchanged.
            let value = (credential.properties[field.name] ?? "").trimmed
            shown[field.name] = value.isEmpty ? field.impliedValue : value
        }
        return shown
    }
}

extension XMLElement {
    /// The text; nil if it is missing or is `null`, which the Java client writes for missing values.
    var value: String? {
        let text = text.trimmed
        return text.isEmpty || text == "null" ? nil : text
    }
}
