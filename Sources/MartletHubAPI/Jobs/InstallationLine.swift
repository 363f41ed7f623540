import MartletCore
import MartletModel

/// The installation to which the registration on a line of an import job belongs.
///
/// Exports have a line for each registration. A registration of an installation has the system tags
/// `$InstallationId:{ID}` and `$UserId:{USER}` on its line (NotificationHubs.md, section 5.4).
struct InstallationLine {
    /// The registration as a part of its installation's document; nil if the registration belongs to no installation.
    let part: InstallationPart?

    /// - Throws: `HubAPIError` if the line belongs to two installations, or has a template without a name.
    init(
        _ document: RegistrationDocument, _ description: XMLElement, _ platforms: PushPlatformList
    ) throws(HubAPIError) {
        let ids = document.tags.compactMap { Self.value(of: $0, Self.installationPrefix) }
        guard let id = ids.first, let descriptor = platforms[document.platform]?.descriptor else {
            part = nil
            return
        }
        guard ids.count == 1 else { throw .badRequest("The registration belongs to more than one installation") }
        var part = InstallationPart(
            installation: id, userID: document.tags.lazy.compactMap { Self.value(of: $0, Self.userPrefix) }.first,
            platform: document.platform, pushChannel: InstallationChannel(document.handle, on: descriptor),
            expirationTime: description.content("ExpirationTime").flatMap { Timestamp(iso8601: $0) },
            tags: document.tags.filter { !$0.folded.hasPrefix("$") || !Self.isSystemTag($0) },
            pushVariables: document.pushVariables, secondaryTile: document.secondaryTile)
        if let expiry = part.expirationTime, expiry >= .distantFuture { part.expirationTime = nil }
        if let template = document.template {
            guard let name = template.name else {
                throw .badRequest("The template of an installation needs a \(TemplateElements.name)")
            }
            part.templateName = name
            part.template = InstallationTemplate(
                body: template.body,
                headers: Dictionary(template.headers.map { ($0.name, $0.value) }) { first, _ in first },
                expiry: template.options.first { $0.key.lowercased() == "expiry" }?.value)
        }
        self.part = part
    }

    /// The prefix of the system tag that states the registration's id in an export. The registration itself never has
    /// this tag.
    static let registrationPrefix = "$registrationid:{"
    private static let installationPrefix = "$installationid:{"
    private static let userPrefix = "$userid:{"

    private static func isSystemTag(_ tag: Tag) -> Bool {
        [registrationPrefix, installationPrefix, userPrefix].contains { tag.folded.hasPrefix($0) }
    }

    /// Returns the text in the braces of a system tag, in its original case; nil if the tag does not begin with
    /// `prefix`.
    private static func value(of tag: Tag, _ prefix: String) -> String? {
        guard tag.folded.hasPrefix(prefix) else { return nil }
        return String(tag.spelling.dropFirst(prefix.count).dropLast())
    }
}
