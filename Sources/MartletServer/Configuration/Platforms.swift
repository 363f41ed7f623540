import MartletCore
import MartletModel
import MartletPush

/// What a command line may know of the platforms without naming one.
public enum Platforms {
    /// One flag of `hub credential set`.
    public struct CredentialField: Sendable {
        /// The property of the credential that it sets.
        public let property: String
        /// Names of the platforms, aliases included, that have it.
        public let platforms: Set<String>
        /// Without dashes.
        public let flag: String
        public let placeholder: String
        public let help: String
        /// The value itself is a secret, which no file holds.
        public let isSecret: Bool
        /// The value names a file whose text is the property.
        public let isFile: Bool
        /// The member of the file, a JSON object, that is the property; nil where the whole text is.
        public let member: String?
    }

    /// The flags of all platforms.
    public static var credentialFields: [CredentialField] {
        PushPlatforms.all.flatMap { fields(of: $0.descriptor) }
    }

    /// Those flags each once, with what they are for on every platform that has them.
    public static var credentialFlags: [(flag: String, placeholder: String, help: String, isSecret: Bool)] {
        var flags: [(flag: String, placeholder: String, help: String, isSecret: Bool)] = []
        for field in credentialFields {
            if let index = flags.firstIndex(where: { $0.flag == field.flag }) {
                flags[index].isSecret = flags[index].isSecret || field.isSecret
                guard !flags[index].help.contains(field.help) else { continue }
                flags[index].help += " " + field.help
            } else {
                flags.append((field.flag, field.placeholder, field.help, field.isSecret))
            }
        }
        return flags
    }

    /// Properties of a new credential that are made up here, and those of them that are no secrets, by flag.
    /// - Parameter platform: A name or an alias.
    /// - Throws: `ServerError` for an unknown platform, and for one whose credentials somebody else gives.
    public static func generateCredential(
        _ platform: String
    ) throws(ServerError) -> (properties: [String: String], shown: [(flag: String, value: String)]) {
        guard let type = PushPlatforms.all.named(platform) else {
            throw ServerError("There is no platform '\(platform)'.")
        }
        let properties: [String: String]
        do throws(PushServiceError) {
            properties = try type.generatedCredential()
        } catch {
            throw ServerError(error.description)
        }
        guard !properties.isEmpty else {
            throw ServerError("Nothing of a credential for \(platform) can be made up here.")
        }
        let shown = type.descriptor.credential.fields.compactMap { field in
            field.isSecret ? nil : properties[field.name].map { (field.flag, $0) }
        }
        return (properties, shown)
    }

    /// The platform's own name, by a name or an alias.
    public static func name(of platform: String) -> String? {
        PushPlatforms.all.named(platform)?.descriptor.platform.rawValue
    }

    /// The format of a message that every platform renders.
    public static let message = "message"

    /// The formats of sends: those of native ones, of templates, and of messages for all platforms.
    public static var formats: [String] {
        PushPlatforms.all.map { $0.descriptor.format } + ["template", message]
    }

    /// The format of sends by its own name, or by a name of its platform.
    public static func format(named name: String) -> String? {
        if let platform = PushPlatforms.all.format(name) ?? PushPlatforms.all.named(name) {
            return platform.descriptor.format
        }
        return formats.first { $0.lowercased() == name.lowercased() }
    }

    /// The platform by its own name, an alias, or the name of its format.
    public static func platform(named name: String) -> String? {
        (PushPlatforms.all.named(name) ?? PushPlatforms.all.format(name))?.descriptor.platform.rawValue
    }

    /// The formats for a sentence, each with the platform's name where that is another: `apple (apns), …`.
    public static var formatsWithPlatforms: String {
        let native = PushPlatforms.all.map { type in
            let (format, platform) = (type.descriptor.format, type.descriptor.platform.rawValue)
            return format == platform ? format : "\(format) (\(platform))"
        }
        return (native + ["template", message]).joined(separator: ", ")
    }

    /// The names of the platforms, as the app backend knows them.
    public static var names: [String] {
        PushPlatforms.all.map { $0.descriptor.platform.rawValue }
    }

    /// The platforms with the elements that have their outcomes in a notification's telemetry, in the order there.
    public static var outcomeElements: [(platform: String, element: String)] {
        PushPlatforms.all.map { $0.descriptor }.sorted { $0.outcomeCounts.index < $1.outcomeCounts.index }
            .map { ($0.platform.rawValue, $0.outcomeCounts.element) }
    }

    private static func fields(of descriptor: PushPlatformDescriptor) -> [CredentialField] {
        let names = Set([descriptor.platform.rawValue] + descriptor.aliases)
        let members = descriptor.credential.fields.compactMap { field in
            field.fileMember.map { file in
                CredentialField(
                    property: field.name, platforms: names, flag: file.flag, placeholder: "FILE",
                    help: "\(descriptor.platform): \(file.help)", isSecret: false, isFile: true, member: file.member)
            }
        }
        let fields = descriptor.credential.fields.map { field in
            CredentialField(
                property: field.name, platforms: names, flag: field.flag, placeholder: field.isFile ? "FILE" : "VALUE",
                help: "\(descriptor.platform): \(field.help)", isSecret: field.isSecret && !field.isFile,
                isFile: field.isFile, member: nil)
        }
        return fields + members
    }
}
