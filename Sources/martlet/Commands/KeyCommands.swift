import MartletHTTP
import MartletModel
import MartletServer

/// `martlet hub key …`: manages the keys of a hub's access rules. `martlet namespace …`: manages the keys of the rules
/// that apply to every hub.
enum KeyCommands {
    static let all = [list, regenerate, connectionString, listNamespace, regenerateNamespace]

    static let list = Command(
        "hub key list", operands: ["NAME"],
        "Print the access rules of a hub with their rights and the connection strings of both keys.",
        options: [.data, .adminSocket, .publicURL, .json(ruleMembers)]
    ) { invocation in
        try await printKeys(invocation, at: "/hubs/\(segment(invocation.operand("NAME")))")
    }

    static let regenerate = Command(
        "hub key regenerate", operands: ["NAME", "RULE", "primary|secondary"],
        "Replace a key of a hub's access rule and print the new connection string; the other key stays valid.",
        options: [.data, .adminSocket, .publicURL, Confirmation.option, .json("connectionString")]
    ) { invocation in
        try await regenerateKey(invocation, at: "/hubs/\(segment(invocation.operand("NAME")))")
    }

    static let connectionString = Command(
        "namespace connection-string", "Print the connection string that manages all hubs.",
        options: [.data, .adminSocket, .publicURL, .json("connectionStrings by the names of their rules")]
    ) { invocation in
        let namespace = try await Administration(invocation).call(.get, "/namespace")
        guard !invocation.printJSON(namespace) else { return }
        for text in (namespace["connectionStrings"]?.object ?? [:]).values.compactMap(\.string).sorted() {
            Terminal.print(text)
        }
    }

    static let listNamespace = Command(
        "namespace key list", "Print the access rules of the namespace with the connection strings of both keys.",
        options: [.data, .adminSocket, .publicURL, .json(ruleMembers)]
    ) { invocation in
        try await printKeys(invocation, at: "/namespace")
    }

    static let regenerateNamespace = Command(
        "namespace key regenerate", operands: ["RULE", "primary|secondary"],
        "Replace a key of a rule of the namespace and print the new connection string; the other key stays valid.",
        options: [.data, .adminSocket, .publicURL, Confirmation.option, .json("connectionString")]
    ) { invocation in
        try await regenerateKey(invocation, at: "/namespace")
    }

    private static let ruleMembers = "name, rights, and primary and secondary, connection strings; a line for each rule"

    private static func printKeys(_ invocation: Invocation, at path: String) async throws {
        let rules = try await Administration(invocation).call(.get, "\(path)/keys")
        for rule in rules.array ?? [] where !invocation.printJSON(rule) {
            let rights = (rule["rights"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
            Terminal.print("\(rule["name"]?.string ?? "") (\(rights))")
            for key in ["primary", "secondary"] { Terminal.print("  \(key): \(rule[key]?.string ?? "")") }
        }
    }

    private static func regenerateKey(_ invocation: Invocation, at path: String) async throws {
        let (rule, key) = (invocation.operand("RULE"), invocation.operand("primary|secondary"))
        let administration = try Administration(invocation)
        try Confirmation.require(
            invocation, typing: rule, "Regenerating the \(key) key of \(rule) makes the old one invalid at once")
        let answer = try await administration.call(.post, "\(path)/keys/\(segment(rule))/\(segment(key))")
        if !invocation.printJSON(answer) { Terminal.print(answer["connectionString"]?.string ?? "") }
    }
}
