import MartletHTTP
import MartletModel
import MartletServer

/// `martlet hub …`: manages hubs and their credentials.
enum HubCommands {
    static let all = [
        create, list, show, connectionString, delete, setCredential, removeCredential, LimitCommand.command,
        SendingCommand.command,
    ]

    static let create = Command(
        "hub create", operands: ["NAME"], "Create a hub and print its connection strings, for apps and for senders.",
        options: [
            .data, .adminSocket, .publicURL, .json("name, createdAt and connectionStrings by the names of their rules"),
        ]
    ) { invocation in
        let hub = try await Administration(invocation, makesDirectory: true)
            .call(.put, "/hubs/\(segment(invocation.operand("NAME")))")
        if !invocation.printJSON(hub) { printConnectionStrings(hub) }
    }

    static let list = Command(
        "hub list", "Print the names of all hubs.",
        options: [
            .data, .adminSocket, .json("name, createdAt and credentials, the names of platforms; a line for each hub"),
        ]
    ) { invocation in
        let hubs = try await Administration(invocation).call(.get, "/hubs").array ?? []
        for hub in hubs {
            if !invocation.printJSON(hub) { Terminal.print(hub["name"]?.string ?? "") }
        }
    }

    static let show = Command(
        "hub show", operands: ["NAME"],
        "Print the state of a hub: its registrations, its unfinished notifications, and its platforms with credentials.",
        options: [
            .data, .adminSocket,
            .json(
                "name, createdAt, registrations, devices, unfinished with notifications and bytes, and credentials with "
                    + "platform and expiresAt"),
        ]
    ) { invocation in
        let state = try await HubState(Administration(invocation), hub: invocation.operand("NAME"))
        guard !invocation.printJSON(state.json) else { return }
        for line in state.lines { Terminal.print(line) }
    }

    static let connectionString = Command(
        "hub connection-string", operands: ["NAME"], "Print a connection string of a hub.",
        options: [
            .data, .adminSocket, .publicURL,
            Option(
                "rule", "Full|Listen",
                "The access rule: Full may do everything, Listen may register; or its whole name.",
                default: "Full"),
            .json("connectionString"),
        ]
    ) { invocation in
        let name = invocation.operand("NAME")
        let hub = try await Administration(invocation).call(.get, "/hubs/\(segment(name))")
        let strings = hub["connectionStrings"]?.object ?? [:]
        let rule = try invocation.required("rule")
        let known = [rule, "Default\(rule)SharedAccessSignature"].map { $0.lowercased() }
        guard let text = strings.first(where: { known.contains($0.key.lowercased()) })?.value.string else {
            let names = strings.keys.sorted().joined(separator: ", ")
            throw ServerError("The hub '\(name)' has no access rule '\(rule)'; it has \(names).")
        }
        if !invocation.printJSON(["connectionString": .string(text)]) { Terminal.print(text) }
    }

    static let delete = Command(
        "hub delete", operands: ["NAME"], "Delete a hub with all its registrations and notifications.",
        options: [.data, .adminSocket, Confirmation.option, .quiet]
    ) { invocation in
        let (name, administration) = (invocation.operand("NAME"), try Administration(invocation))
        let audience = try await administration.call(.get, "/hubs/\(segment(name))/audience")
        let registrations = (audience["registrations"]?.integer ?? 0).counted("registration")
        try Confirmation.require(
            invocation, typing: name, "Deleting a hub removes its \(registrations) permanently")
        _ = try await administration.call(.delete, "/hubs/\(segment(name))")
        invocation.report("Deleted hub '\(name)' with \(registrations).")
    }

    static let setCredential = {
        var command = setCredentialOfAnyPlatform
        command.isRelevant = { option, words in
            let named = words.first { Platforms.name(of: $0) != nil }
            guard let platform = named?.lowercased() else { return true }
            let fields = Platforms.credentialFields.filter {
                [$0.flag, "\($0.flag)-file"].contains(option.name)
            }
            return fields.isEmpty || fields.contains { $0.platforms.contains(platform) }
        }
        return command
    }()

    private static let setCredentialOfAnyPlatform = Command(
        "hub credential set", operands: ["NAME", "PLATFORM"],
        "Set a hub's credential for a platform; it is checked before it is stored.",
        options: [
            .data, .adminSocket,
            Option(
                "generate", nil, "Generate what can be generated, such as a new key pair, and print the public part."
            ),
            Option("simulator", "URL", "Use the credential that the simulated service expects.", isFlagAlone: true),
            SimulatorConnection.authority, .quiet, .json("what was made up, by the names of the options"),
        ] + Platforms.credentialFlags.map { Option($0.flag, $0.placeholder, $0.help, isSecret: $0.isSecret) }
    ) { invocation in
        let platform = invocation.operand("PLATFORM")
        let generated = invocation.isOn("generate") ? try await generateCredential(invocation, platform) : nil
        var properties: [String: JSON] = generated?.properties.mapValues(JSON.string) ?? [:]
        if invocation["simulator"] != nil {
            properties = try await SimulatorConnection(invocation).credential(for: platform)
        }
        try refuseForeignFlags(invocation, platform)
        for field in Platforms.credentialFields where field.platforms.contains(platform.lowercased()) {
            // A value given by its own flag takes precedence over a value from a file.
            guard properties[field.property] == nil, let value = invocation[field.flag] else { continue }
            properties[field.property] = try text(of: field, given: value)
        }
        do {
            _ = try await Administration(invocation).call(
                .put, "/hubs/\(segment(invocation.operand("NAME")))/credentials/\(segment(platform))",
                body: .object(properties))
        } catch let error as ServerError {
            throw ServerError(inFlags(error.description, of: platform))
        }
        let shown = generated?.shown ?? []
        let members = shown.map { ($0.flag, JSON.string($0.value)) }
        if !invocation.printJSON(.object(Dictionary(members, uniquingKeysWith: { first, _ in first }))) {
            for (flag, value) in shown { Terminal.print("\(flag): \(value)") }
        }
        let name = Platforms.name(of: platform) ?? platform
        invocation.report("Hub '\(invocation.operand("NAME"))' has a credential for \(name).")
    }

    /// Refuses flags that belong to the credentials of other platforms. If no flag is given, refuses a platform whose
    /// name is the beginning of another platform's name, such as its successor's. In both cases the command would store
    /// a credential that the user did not mean.
    private static func refuseForeignFlags(_ invocation: Invocation, _ platform: String) throws(UsageError) {
        let fields = Platforms.credentialFields.filter { $0.platforms.contains(platform.lowercased()) }
        guard !fields.isEmpty, invocation["simulator"] == nil, !invocation.isOn("generate") else { return }
        let own = fields.map(\.flag)
        let given = Set(Platforms.credentialFields.map(\.flag)).filter { invocation[$0] != nil }
        let foreign = given.subtracting(own).sorted()
        let related = Platforms.names.filter { $0.hasPrefix(platform.lowercased()) && $0 != platform.lowercased() }
        guard !foreign.isEmpty || (given.isEmpty && !related.isEmpty) else { return }
        let question = related.first.map { " Did you mean '\($0)'?" } ?? ""
        let sentence =
            foreign.first.map { "--\($0) is not for \(platform)." }
            ?? "No part of a credential for \(platform) was given."
        let flags = own.map { "--\($0)" }.joined(separator: ", ")
        throw UsageError(
            description: "\(sentence)\(question) \(platform) takes \(flags).", command: invocation.command)
    }

    /// Generates a credential. The old credential must be deleted first, because registrations that were made with the
    /// old key are useless with a new key.
    private static func generateCredential(
        _ invocation: Invocation, _ platform: String
    ) async throws -> (properties: [String: String], shown: [(flag: String, value: String)]) {
        let generated = try Platforms.generateCredential(platform)
        let hub = try await Administration(invocation).call(.get, "/hubs/\(segment(invocation.operand("NAME")))")
        let known = (hub["credentials"]?.array ?? []).compactMap(\.string)
        if let name = Platforms.name(of: platform), known.contains(name) {
            throw ServerError(
                "The hub has a credential for \(platform) already, and devices belong to its key: remove it first.")
        }
        return generated
    }

    static let removeCredential = Command(
        "hub credential remove", operands: ["NAME", "PLATFORM"], "Remove a hub's credential for a platform.",
        options: [.data, .adminSocket, .quiet]
    ) { invocation in
        let (hub, platform) = (invocation.operand("NAME"), invocation.operand("PLATFORM"))
        _ = try await Administration(invocation)
            .call(.delete, "/hubs/\(segment(hub))/credentials/\(segment(platform))")
        invocation.report("Removed the credential of hub '\(hub)' for \(Platforms.name(of: platform) ?? platform).")
    }

    /// Returns the value of a flag: the given text, the text of the file that the flag names, or a member of the JSON
    /// object in that file.
    /// - Returns: nil if the JSON object does not have the member as a text.
    private static func text(of field: Platforms.CredentialField, given value: String) throws -> JSON? {
        guard field.isFile else { return .string(value) }
        let content = try TextFile.readText(value)
        guard let member = field.member else { return .string(content) }
        guard let file = try? JSON(parsing: Array(content.utf8)), case .object = file else {
            throw ServerError("The file of --\(field.flag) must hold a JSON object.")
        }
        return file[member]?.string.map(JSON.string)
    }

    /// Returns a message with property names replaced by the flags that set them.
    static func inFlags(_ sentence: String, of platform: String) -> String {
        let fields = Platforms.credentialFields.filter { $0.platforms.contains(platform.lowercased()) }
        let words = sentence.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let name = word.prefix { $0.isLetter }
            return fields.first { $0.property == name }.map { "--\($0.flag)\(word.dropFirst(name.count))" } ?? word[...]
        }
        return words.joined(separator: " ")
    }

    private static func printConnectionStrings(_ hub: JSON) {
        let strings = hub["connectionStrings"]?.object ?? [:]
        for name in strings.keys.sorted(by: >) { Terminal.print(strings[name]?.string ?? "") }
    }
}

extension Option {
    static let data = Option("data", "DIR", "The data directory of the server.", default: "data")
    static let adminSocket = Option(
        "admin-socket", "PATH", "The socket for administration; by default admin.sock in the data directory.")
    /// The option for commands that print addresses of the server.
    static let publicURL = Option(
        "public-url", "URL", "The address that clients use, to print if no server runs that knows it.")
}

extension Invocation {
    /// Returns the address that clients use; nil if it is not given.
    func publicURL() throws(UsageError) -> HTTPOrigin? {
        try optional("public-url", as: "http(s)://HOST[:PORT] without a path") { HTTPOrigin($0) }
    }
}
