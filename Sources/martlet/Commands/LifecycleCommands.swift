import MartletHTTP
import MartletModel
import MartletServer

/// The commands `martlet reload` and `martlet health`, which send requests to the running server.
enum LifecycleCommands {
    static let all = [reload, health]

    private static let reload = Command(
        "reload", "Make the running server read its configuration, certificate and key again, as SIGHUP does.",
        options: [.data, .adminSocket]
    ) { invocation in
        let answer = try await Administration(invocation).running(.post, "/reload")
        let (taken, waiting) = (names(answer["taken"]), names(answer["waiting"]))
        Terminal.print(ConfigurationChange.sentence(taken: taken, waiting: waiting))
    }

    private static let health = Command(
        "health", "Say whether the running server accepts work: exit 0, or 1 with the reason why not.",
        options: [.data, .adminSocket]
    ) { invocation in
        let note = try await Administration(invocation).probe()
        Terminal.print("ready")
        if let note { Terminal.print(note) }
    }

    private static func names(_ value: JSON?) -> [String] { (value?.array ?? []).compactMap(\.string) }
}
