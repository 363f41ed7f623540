import MartletHTTP
import MartletModel
import MartletServer

/// `martlet funnel`: prints how far a notification got.
enum FunnelCommand {
    static let command = Command(
        "funnel", operands: ["HUB", "NOTIFICATION"],
        "Say to how many devices a notification was to go, for how many a payload was made, whose push service took it, and "
            + "who received and opened it, in all and for each platform. What nobody can know is called unknown.",
        options: [.data, .adminSocket, Option("json", nil, "Print it as JSON.")]
    ) { invocation in
        let hub = segment(invocation.operand("HUB"))
        let id = segment(invocation.operand("NOTIFICATION"))
        let funnel = try await Administration(invocation).call(.get, "/hubs/\(hub)/messages/\(id)/funnel")
        guard !invocation.isOn("json") else {
            return Terminal.print(String(decoding: funnel.bytes, as: UTF8.self))
        }
        Terminal.print(line("all", funnel))
        for (platform, steps) in (funnel["platforms"]?.object ?? [:]).sorted(by: { $0.key < $1.key }) {
            Terminal.print(Terminal.singleLine(line(platform, steps)))
        }
    }

    private static func line(_ name: String, _ steps: JSON) -> String {
        let names = ["targeted", "rendered", "accepted", "received", "opened"]
        return "\(name): "
            + names.map { "\($0) \(steps[$0]?.integer.map(String.init) ?? "unknown")" }.joined(separator: ", ")
    }
}
