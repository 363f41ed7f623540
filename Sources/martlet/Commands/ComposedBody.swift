import MartletModel
import MartletServer

/// The body of a send: the text that `--body` gives, or a message for all platforms that is made from options.
enum ComposedBody {
    static let options = [
        Option("title", "TEXT", "With --platform message: its title."),
        Option("text", "TEXT", "With --platform message: its text."),
        Option("link", "URL", "With --platform message: the address that opens when it is tapped."),
        Option("picture", "URL", "With --platform message: the https address of a picture."),
        Option("badge", "N", "With --platform message: the number on the app's icon, or +1."),
        Option("app-data", "NAME=VALUE", "With --platform message: a text for the app."),
    ]

    /// Returns the body of a send: the text of `--body`, or the JSON of a message that is made from the other options.
    /// - Throws: `UsageError` if these options are given together with `--body`, or for another format than `message`.
    static func body(_ invocation: Invocation, format: String) throws -> [UInt8] {
        let given = options.map(\.name).filter { invocation[$0] != nil }
        guard let first = given.first else {
            guard format != Platforms.message || invocation["body"] != nil else {
                throw UsageError(
                    description: "There is no message: give --text, --title, or the whole message as JSON in --body.",
                    command: invocation.command)
            }
            return Array(try invocation.required("body").utf8)
        }
        guard format == Platforms.message else {
            throw UsageError(
                description: "--\(first) is for --platform \(Platforms.message).", command: invocation.command)
        }
        guard invocation["body"] == nil else {
            throw UsageError(
                description: "--body is the whole message, so leave out --\(first).", command: invocation.command)
        }
        return try message(invocation).bytes
    }

    private static func message(_ invocation: Invocation) throws(UsageError) -> JSON {
        var members: [String: JSON] = [:]
        for name in ["title", "text", "link", "picture"] { members[name] = invocation[name].map(JSON.string) }
        members["badge"] = try invocation.optional("badge", as: "a number, or +1") { text in
            text == "+1" ? "+1" : Int64(text).map(JSON.integer)
        }
        members["data"] = try invocation.optional("app-data", as: "NAME=VALUE") { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 ? .object([String(parts[0]): .string(String(parts[1]))]) : nil
        }
        return .object(members)
    }
}
