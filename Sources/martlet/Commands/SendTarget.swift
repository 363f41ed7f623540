import MartletHTTP
import MartletModel
import MartletServer

/// The recipients of `martlet send`. A send to all devices must be requested explicitly, so that a forgotten option
/// cannot cause such a send.
enum SendTarget: Equatable {
    case tags(String)
    case handle(String)
    case everybody

    static let options = [
        Option("tags", "EXPR", "A tag expression that selects the devices, such as 'news && !beta'."),
        Option("handle", "HANDLE", "Send to this one handle instead."),
        Option("everybody", nil, "Send to all devices of the hub instead.", isFlagAlone: true),
    ]

    /// Reads the recipients. If a test names no recipients, the recipients are the testers of the hub.
    init(_ invocation: Invocation, testersOf hub: HubClient) async throws {
        let names = invocation["tags"] ?? invocation["handle"]
        guard invocation.isOn("test"), names == nil, !invocation.isOn("everybody") else {
            try self.init(invocation)
            return
        }
        let sending = try JSON(parsing: try await hub.call(.get, "/\(hub.hub)/sending?api-version=2020-06").bytes)
        guard let testers = sending["testers"]?.string else {
            throw ServerError(
                "The hub has no testers: 'martlet hub sending \(invocation.operand("HUB")) --testers EXPR' names them.")
        }
        self = .tags(testers)
    }

    init(_ invocation: Invocation) throws(UsageError) {
        let tags = invocation["tags"].flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
        switch (tags, invocation["handle"], invocation.isOn("everybody")) {
        case (let tags?, nil, false): self = .tags(tags)
        case (nil, let handle?, false): self = .handle(handle)
        case (nil, nil, true): self = .everybody
        case (nil, nil, false):
            throw UsageError(
                description: "Which devices should get it? Give --tags EXPR, --handle HANDLE or --everybody.",
                command: invocation.command)
        default:
            throw UsageError(
                description: "--tags, --handle and --everybody exclude each other: give one.",
                command: invocation.command)
        }
    }
}
