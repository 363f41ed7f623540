import MartletHTTP
import MartletModel

/// `martlet user …`: who may log in to the app backend.
enum UserCommands {
    static let all = [add, list, remove]

    static let passwordFromInput = Option(
        "password-stdin", nil, "Read the password from standard input, as one line.")

    static let add = Command(
        "user add", operands: ["NAME"], "Add a user, or give one a new password.", options: [.data, passwordFromInput]
    ) { invocation in
        let password = try invocation.readPassword()
        _ = try await Administration(invocation, makesDirectory: true).call(
            .put, "/users/\(segment(invocation.operand("NAME")))", body: ["password": .string(password)])
    }

    static let list = Command("user list", "Print the names of all users.", options: [.data]) { invocation in
        let users = try await Administration(invocation).call(.get, "/users")
        for user in users.array ?? [] { Terminal.print(user["name"]?.string ?? "") }
    }

    static let remove = Command(
        "user remove", operands: ["NAME"], "Remove a user and end all sessions.", options: [.data]
    ) { invocation in
        _ = try await Administration(invocation).call(.delete, "/users/\(segment(invocation.operand("NAME")))")
    }
}
