import MartletHTTP
import MartletModel
import MartletServer

/// `martlet container …`: manages storage for import and export jobs.
enum ContainerCommands {
    static let all = [create, list, url, delete]

    private static let hours = Option("hours", "N", "How long the URL is valid, in hours.", default: "24")
    private static let rights = Option(
        "rights", "LETTERS", "What the URL allows: r to read, w to write, d to delete, l to list.", default: "rwdl")

    static let create = Command(
        "container create", operands: ["NAME"],
        "Create a storage container and print its signed URL, for jobs and for the clients of blob services.",
        options: [.data, .adminSocket, .publicURL, hours, rights, .json("url")]
    ) { invocation in
        let answer = try await Administration(invocation)
            .call(.put, "/containers/\(segment(invocation.operand("NAME")))\(try query(invocation))")
        if !invocation.printJSON(answer) { Terminal.print(answer["url"]?.string ?? "") }
    }

    static let list = Command(
        "container list", "Print the names of all storage containers.",
        options: [.data, .adminSocket, .json("name; a line for each container")]
    ) { invocation in
        let names = try await Administration(invocation).call(.get, "/containers")
        for name in names.array ?? [] where !invocation.printJSON(["name": name]) {
            Terminal.print(name.string ?? "")
        }
    }

    static let url = Command(
        "container url", operands: ["NAME"], "Print a new signed URL of a storage container.",
        options: [.data, .adminSocket, .publicURL, hours, rights, .json("url")]
    ) { invocation in
        let answer = try await Administration(invocation)
            .call(.get, "/containers/\(segment(invocation.operand("NAME")))/url\(try query(invocation))")
        if !invocation.printJSON(answer) { Terminal.print(answer["url"]?.string ?? "") }
    }

    static let delete = Command(
        "container delete", operands: ["NAME"], "Delete a storage container with all its blobs.",
        options: [.data, .adminSocket, Confirmation.option, .quiet]
    ) { invocation in
        let (name, administration) = (invocation.operand("NAME"), try Administration(invocation))
        try Confirmation.require(invocation, typing: name, "Deleting a container removes its blobs permanently")
        _ = try await administration.call(.delete, "/containers/\(segment(name))")
        invocation.report("Deleted container '\(name)'.")
    }

    private static func query(_ invocation: Invocation) throws(UsageError) -> String {
        "?hours=\(try invocation.count("hours", upTo: 8760) ?? 24)&rights=\(segment(invocation["rights"] ?? "rwdl"))"
    }
}
