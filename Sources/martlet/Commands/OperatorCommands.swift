import MartletHTTP
import MartletModel

/// `martlet operator …` and `martlet console`: manages the operators, who may sign in to the web console.
enum OperatorCommands {
    static let all = [invite, list, role, disable, enable, endSessions, resetFactor, console]

    private static let invite = Command(
        "operator invite", operands: ["NAME"],
        "Invite an operator to the web console: print a link, valid for 15 minutes and one use.",
        options: [
            .data, .adminSocket,
            Option(
                "role", "ROLE,…",
                "admin, sender or viewer, for all hubs or for one: sender@shop. The roles replace those of an operator who "
                    + "exists."),
            .json("name, roles, link and expiresAt"),
        ]
    ) { invocation in
        let body: JSON = ["name": .string(invocation.operand("NAME")), "roles": try roles(invocation)]
        let answer = try await Administration(invocation, makesDirectory: true).call(.post, "/operators", body: body)
        if !invocation.printJSON(answer) { Terminal.print(answer["link"]?.string ?? "") }
    }

    private static let list = Command(
        "operator list", "Print the web console's operators, each with its roles after the name.",
        options: [.data, .adminSocket, .json("name, roles and the state of the account; a line for each operator")]
    ) { invocation in
        let operators = try await Administration(invocation).call(.get, "/operators")
        for entry in operators.array ?? [] where !invocation.printJSON(entry) {
            let roles = (entry["roles"]?.array ?? []).compactMap(\.string)
            let state = entry["isDisabled"]?.bool == true ? ["(disabled)"] : []
            Terminal.print(([entry["name"]?.string ?? ""] + roles + state).joined(separator: " "))
        }
    }

    private static let role = Command(
        "operator role", operands: ["NAME"], "Give an operator other roles, at once.",
        options: [
            .data, .adminSocket,
            Option("role", "ROLE,…", "admin, sender or viewer, for all hubs or for one: sender@shop."), .quiet,
        ]
    ) { invocation in
        let roles = try roles(invocation)
        _ = try await Administration(invocation).call(.put, path(invocation, "roles"), body: ["roles": roles])
        let words = (roles.array ?? []).compactMap(\.string).joined(separator: ", ")
        invocation.report("Operator '\(invocation.operand("NAME"))' has the roles: \(words).")
    }

    private static let disable = Command(
        "operator disable", operands: ["NAME"], "Prevent an operator from signing in, and end all sessions.",
        options: [.data, .adminSocket, .quiet]
    ) { invocation in
        _ = try await Administration(invocation).call(.put, path(invocation, "disabled"), body: ["disabled": true])
        invocation.report("Operator '\(invocation.operand("NAME"))' cannot sign in any more.")
    }

    private static let enable = Command(
        "operator enable", operands: ["NAME"], "Let a disabled operator sign in again.",
        options: [.data, .adminSocket, .quiet]
    ) { invocation in
        _ = try await Administration(invocation).call(.put, path(invocation, "disabled"), body: ["disabled": false])
        invocation.report("Operator '\(invocation.operand("NAME"))' can sign in again.")
    }

    private static let endSessions = Command(
        "operator end-sessions", operands: ["NAME"], "End all sessions and links of an operator.",
        options: [.data, .adminSocket, .quiet]
    ) { invocation in
        _ = try await Administration(invocation).call(.delete, path(invocation, "sessions"))
        invocation.report("The sessions of operator '\(invocation.operand("NAME"))' have ended.")
    }

    private static let resetFactor = Command(
        "operator reset-factor", operands: ["NAME"],
        "Remove the second factor of an operator who has lost it, and end all sessions.",
        options: [.data, .adminSocket, .quiet]
    ) { invocation in
        _ = try await Administration(invocation).call(.delete, path(invocation, "factor"))
        invocation.report("Operator '\(invocation.operand("NAME"))' signs in with the password alone.")
    }

    private static let console = Command(
        "console", "Print a link that opens the web console and signs in, valid for 15 minutes and one use.",
        options: [
            .data, .adminSocket,
            Option(
                "operator", "NAME", "The operator; not needed if there is only one with the role admin for all hubs."),
            .json("name, link and expiresAt"),
        ]
    ) { invocation in
        var body: [String: JSON] = [:]
        body["name"] = invocation["operator"].map(JSON.string)
        let request = try await Administration(invocation).call(.post, "/operators/link", body: .object(body))
        if !invocation.printJSON(request) { Terminal.print(request["link"]?.string ?? "") }
    }

    private static func path(_ invocation: Invocation, _ part: String) -> String {
        "/operators/\(segment(invocation.operand("NAME")))/\(part)"
    }

    /// Returns the roles in the form that the administration API accepts. The names of the roles are checked here,
    /// before a data directory is made; the administration API checks everything else.
    private static func roles(_ invocation: Invocation) throws -> JSON {
        let form = "admin, sender or viewer, for all hubs or for one such as sender@shop, with commas between them"
        let roles = try invocation.required("role", as: form) { text -> [String]? in
            let words = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
            let areRoles = words.allSatisfy { word in
                ["admin", "sender", "viewer"].contains(String(word.prefix { $0 != "@" }))
            }
            return areRoles ? words.map { String($0) } : nil
        }
        return .array(roles.map(JSON.string))
    }
}
