import MartletHTTP
import MartletModel
import MartletServer

/// `martlet funnel`: prints for how many devices a notification was targeted, rendered, accepted, received and opened.
enum FunnelCommand {
    static let command = Command(
        "funnel", operands: ["HUB", "NOTIFICATION"],
        "Print how many devices a notification targeted, and for how many it was rendered, accepted by the push service, "
            + "received and opened, in total and for each platform. Numbers that cannot be known are unknown.",
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
