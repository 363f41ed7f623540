import MartletCore
import MartletModel
import MartletPush

/// Tells the command line what it needs to know about platforms, so that the code of the command line names no
/// platform.
public enum Platforms {
    /// A flag of the command `hub credential set`.
    public struct CredentialField: Sendable {
        /// The property of the credential that the flag sets.
        public let property: String
        /// The names and aliases of the platforms that have the flag.
        public let platforms: Set<String>
        /// The flag without its dashes.
        public let flag: String
        public let placeholder: String
        public let help: String
        /// Whether the value of the flag is itself a secret, and not the path of a file with the secret.
        public let isSecret: Bool
        /// Whether the value of the flag names a file that contains the property.
        public let isFile: Bool
        /// The member that contains the property, if the file is a JSON file; nil if the whole text of the file is the
        /// property.
        public let member: String?
    }

    /// The flags of `hub credential set` for all platforms. A flag that several platforms have is in the array several
    /// times.
    public static var credentialFields: [CredentialField] {
        PushPlatforms.all.flatMap { fields(of: $0.descriptor) }
    }

    /// All flags of `hub credential set`, each once. The help text of a flag is for all platforms that have the flag.
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

    /// Generates the properties of a new credential that Martlet can make without the platform's vendor, such as a key
    /// pair.
    /// - Parameter platform: The platform's name or an alias.
    /// - Returns: `properties`: all generated properties, by name. `shown`: the properties that are not secret, each
    ///   with its flag, to be shown to the operator.
    /// - Throws: `ServerError` for an unknown platform, or for a platform whose vendor issues the credential.
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

    /// Returns the name of the platform that has this name or alias; nil if there is none.
    public static func name(of platform: String) -> String? {
        PushPlatforms.all.named(platform)?.descriptor.platform.rawValue
    }

    /// The format of a composed message, which every platform renders.
    public static let message = "message"

    /// All formats of sends: a native format for each platform, templates, and composed messages.
    public static var formats: [String] {
        PushPlatforms.all.map { $0.descriptor.format } + ["template", message]
    }

    /// Returns the format with this name, or the native format of the platform with this name; nil if there is none.
    public static func format(named name: String) -> String? {
        if let platform = PushPlatforms.all.format(name) ?? PushPlatforms.all.named(name) {
            return platform.descriptor.format
        }
        return formats.first { $0.lowercased() == name.lowercased() }
    }

    /// Returns the name of the platform that has this name or alias, or whose format has this name; nil if there is
    /// none.
    public static func platform(named name: String) -> String? {
        (PushPlatforms.all.named(name) ?? PushPlatforms.all.format(name))?.descriptor.platform.rawValue
    }

    /// A list of all formats of sends for use in a sentence, such as `apple (apns), …`.
    ///
    /// The platform's name follows in parentheses if it differs from the format.
    public static var formatsWithPlatforms: String {
        let native = PushPlatforms.all.map { type in
            let (format, platform) = (type.descriptor.format, type.descriptor.platform.rawValue)
            return format == platform ? format : "\(format) (\(platform))"
        }
        return (native + ["template", message]).joined(separator: ", ")
    }

    /// The names of all platforms.
    public static var names: [String] {
        PushPlatforms.all.map { $0.descriptor.platform.rawValue }
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
