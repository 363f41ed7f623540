import MartletHTTP
import MartletModel
import MartletServer

/// `martlet why`: explains what happened to a notification on a device.
enum WhyCommand {
    static let command = Command(
        "why", operands: ["HUB", "NOTIFICATION", "DEVICE"],
        "Say why a notification did or did not reach a device, by what was true when it was sent. NOTIFICATION is the id "
            + "that the send was answered with, DEVICE the id of a registration or an installation, known or not.",
        options: [.data, .adminSocket, Option("json", nil, "Print everything that is known, as JSON.")]
    ) { invocation in
        let hub = segment(invocation.operand("HUB"))
        let id = segment(invocation.operand("NOTIFICATION"))
        let device = segment(invocation.operand("DEVICE"))
        let trace = try await Administration(invocation)
            .call(.get, "/hubs/\(hub)/messages/\(id)/devices/\(device)")
        guard !invocation.isOn("json") else {
            return Terminal.print(String(decoding: trace.bytes, as: UTF8.self))
        }
        for sentence in (trace["explanation"]?.array ?? []).compactMap(\.string) {
            Terminal.print(Terminal.singleLine(sentence))
        }
        for payload in (trace["registrations"]?.array ?? []).compactMap({ $0["payload"] }) {
            print(payload)
        }
    }

    private static func print(_ payload: JSON) {
        let size = payload["size"]?.integer ?? 0
        Terminal.print("Payload of \(size) bytes, SHA-256 \(payload["sha256"]?.string ?? ""):")
        let body = payload["body"]?.string ?? payload["base64"]?.string
        Terminal.print(Terminal.singleLine("  \(body ?? "not shown, because the notification is confidential")"))
    }
}
