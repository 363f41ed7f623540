import MartletHTTP
import MartletModel

/// `martlet user …`: manages the users who may log in to the app backend.
enum UserCommands {
    static let all = [add, list, remove, endSessions, addRole, removeRole, addGroup, removeGroup]

    static let passwordFromInput = Option(
        "password-stdin", nil, "Read the password from standard input, as one line.")

    static let add = Command(
        "user add", operands: ["NAME"], "Add a user, or give one a new password.",
        options: [
            .data, .adminSocket, passwordFromInput, Option("role", "ROLE", "A role of the user, such as admin."),
            .quiet,
        ]
    ) { invocation in
        let password = try invocation.readPassword(isNew: true)
        var body: [String: JSON] = ["password": .string(password)]
        body["roles"] = invocation["role"].map { [.string($0)] }
        let answer = try await Administration(invocation, makesDirectory: true).call(
            .put, "/users/\(segment(invocation.operand("NAME")))", body: .object(body))
        let news = answer["isNew"]?.bool == true ? "is added and can log in" : "has a new password"
        invocation.report("User '\(invocation.operand("NAME"))' \(news).")
    }

    static let addRole = Command(
        "user role add", operands: ["NAME", "ROLE"], "Give a user a role, such as admin.",
        options: [.data, .adminSocket, .quiet]
    ) { invocation in
        try await changeRole(.put, invocation)
        invocation.report("User '\(invocation.operand("NAME"))' has the role '\(invocation.operand("ROLE"))'.")
    }

    static let removeRole = Command(
        "user role remove", operands: ["NAME", "ROLE"], "Take a role from a user, at once.",
        options: [.data, .adminSocket, .quiet]
    ) { invocation in
        try await changeRole(.delete, invocation)
        let (name, role) = (invocation.operand("NAME"), invocation.operand("ROLE"))
        invocation.report("User '\(name)' does not have the role '\(role)'.")
    }

    private static func changeRole(_ method: HTTPMethod, _ invocation: Invocation) async throws {
        let (name, role) = (segment(invocation.operand("NAME")), segment(invocation.operand("ROLE")))
        _ = try await Administration(invocation).call(method, "/users/\(name)/roles/\(role)")
    }

    static let addGroup = Command(
        "user group add", operands: ["NAME", "GROUP"],
        "Put a user into a group: its devices get the tag group:GROUP, which no app can give itself.",
        options: [.data, .adminSocket, .quiet]
    ) { invocation in
        try await changeGroup(.put, invocation)
        invocation.report("User '\(invocation.operand("NAME"))' is in the group '\(invocation.operand("GROUP"))'.")
    }

    static let removeGroup = Command(
        "user group remove", operands: ["NAME", "GROUP"], "Take a user, and its devices, out of a group.",
        options: [.data, .adminSocket, .quiet]
    ) { invocation in
        try await changeGroup(.delete, invocation)
        invocation.report("User '\(invocation.operand("NAME"))' is not in the group '\(invocation.operand("GROUP"))'.")
    }

    private static func changeGroup(_ method: HTTPMethod, _ invocation: Invocation) async throws {
        let (name, group) = (segment(invocation.operand("NAME")), segment(invocation.operand("GROUP")))
        _ = try await Administration(invocation).call(method, "/users/\(name)/groups/\(group)")
    }

    static let list = Command(
        "user list", "Print all users, each with its roles and groups after the name.",
        options: [.data, .adminSocket, .json("name, createdAt and roles; a line for each user")]
    ) { invocation in
        let administration = try Administration(invocation)
        try await eachPage(administration) { users in
            for user in users where !invocation.printJSON(user) {
                let roles = (user["roles"]?.array ?? []).compactMap(\.string)
                Terminal.print(([user["name"]?.string ?? ""] + roles).joined(separator: " "))
            }
        }
    }

    /// Reads the list of users page by page, and calls `take` with the users of each page.
    static func eachPage(_ administration: Administration, _ take: ([JSON]) -> Void) async throws {
        var query = ""
        while true {
            let page = try await administration.call(.get, "/users" + query)
            take(page["users"]?.array ?? [])
            guard let next = page["next"]?.string else { return }
            query = "?after=\(segment(next))"
        }
    }

    static let remove = Command(
        "user remove", operands: ["NAME"], "Remove a user and end all sessions.",
        options: [.data, .adminSocket, Confirmation.option, .quiet]
    ) { invocation in
        let name = invocation.operand("NAME")
        let administration = try Administration(invocation)
        try Confirmation.require(
            invocation, typing: name, "Removing a user ends its sessions and removes its devices permanently")
        _ = try await administration.call(.delete, "/users/\(segment(name))")
        invocation.report("Removed user '\(name)'.")
    }

    static let endSessions = Command(
        "user end-sessions", operands: ["NAME"], "End all sessions of a user, who can log in again.",
        options: [.data, .adminSocket, .quiet]
    ) { invocation in
        let name = invocation.operand("NAME")
        _ = try await Administration(invocation).call(.delete, "/users/\(segment(name))/sessions")
        invocation.report("The sessions of user '\(name)' have ended.")
    }
}
