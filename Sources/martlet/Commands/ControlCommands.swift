import MartletHTTP
import MartletModel
import MartletServer

/// `martlet cancel`, `pause`, `resume` and `status`: control a send in progress.
enum ControlCommands {
    static let all = [
        command("cancel", .post, "Stop a notification for good: it is sent to no further device."),
        command("pause", .post, "Stop a notification until it is resumed."),
        command(
            "resume", .post,
            "Continue a notification that is paused or halted, where it stopped; or a canary that holds."),
        command(
            "status", .get,
            "Show the state of a notification: how many devices it was sent to, how many wait, and how many were left out."
        ),
    ]

    private static func command(_ word: String, _ method: HTTPMethod, _ help: String) -> Command {
        Command(
            word, operands: ["HUB", "NOTIFICATION"], "\(help) NOTIFICATION is the id that the send was answered with.",
            options: [.data, .adminSocket, Option("json", nil, "Print everything that is known, as JSON.")]
        ) { invocation in
            let hub = segment(invocation.operand("HUB"))
            let id = segment(invocation.operand("NOTIFICATION"))
            let status = try await Administration(invocation).call(method, "/hubs/\(hub)/messages/\(id)/\(word)")
            guard !invocation.isOn("json") else {
                return Terminal.print(String(decoding: status.bytes, as: UTF8.self))
            }
            for line in lines(of: status, in: invocation.operand("HUB")) { Terminal.print(Terminal.singleLine(line)) }
        }
    }

    /// Returns the lines that show the state of a notification: first the lines for all platforms together; then, if
    /// there are several platforms, a line for each platform.
    static func lines(of status: JSON, in hub: String) -> [String] {
        var lines = [state(of: status), numbers(of: status)]
        lines += standstill(status, in: hub).map { [$0] } ?? []
        if let author = status["author"]?.string { lines.append("Sent by \(author)") }
        if let spec = status["rollout"]?["spec"]?.string {
            lines.append("Roll-out: \(spec)\(rate(status["rollout"]?["rate"]))")
        }
        if let sample = status["sample"] { lines.append("Sample: \(numbers(of: sample, sampleNames))") }
        let platforms = (status["platforms"]?.object ?? [:]).sorted { $0.key < $1.key }
        guard platforms.count > 1 else { return lines }
        return lines + platforms.map { "\($0): \($1["state"]?.string ?? ""), \(numbers(of: $1))" }
    }

    private static func state(of status: JSON) -> String {
        let (state, control) = (status["state"]?.string ?? "", status["control"]?.string ?? "running")
        guard control != "running" else { return state }
        if control == "holding" { return "\(state), holding" }
        let since = status["controlledAt"]?.string.map { " since \($0)" } ?? ""
        return state.lowercased() == control ? "\(state)\(since)" : "\(state), \(control)\(since)"
    }

    /// Returns the reason why nothing of the notification is being sent, and how to continue it; nil if the
    /// notification is not paused, halted or holding.
    private static func standstill(_ status: JSON, in hub: String) -> String? {
        let resume = "'martlet resume \(hub) \(status["notification"]?.string ?? "")' continues it."
        switch status["control"]?.string {
        case "paused": return "It is not sent any further: \(resume)"
        case "holding":
            let waits =
                if status["waitsFor"]?.string == "answers" {
                    "until more pushes of its sample have an answer"
                } else if let time = status["goesOnAt"]?.string {
                    "until \(time)"
                } else {
                    "until it is resumed"
                }
            return "The canary holds \(waits): \(resume)"
        case "halted":
            let share = status["rollout"]?["halt"]?["percent"]?.number.map { "\(rounded($0)) %" } ?? "allowed"
            return
                "It has halted itself, because more than \(share) of its pushes failed: 'martlet why' says why; \(resume)"
        default: return nil
        }
    }

    private static func rate(_ value: JSON?) -> String {
        value?.number.map { ", \(rounded($0)) a second" } ?? ""
    }

    /// Formats a number with at most two digits after the decimal point.
    static func rounded(_ number: Double) -> String {
        let text = "\((number * 100).rounded() / 100)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static let names = [
        "targeted", "sent", "succeeded", "failed", "retrying", "suppressed", "skipped", "pending",
    ]
    private static let sampleNames = ["size", "targeted", "succeeded", "failed", "retrying"]

    private static func numbers(of status: JSON, _ names: [String] = names) -> String {
        names.map { "\($0) \(status[$0]?.integer.map(String.init) ?? "unknown")" }.joined(separator: ", ")
    }
}

extension JSON {
    /// The value of a JSON number, whether or not it is an integer; nil for any other value.
    var number: Double? {
        if case .double(let number) = self { number } else { integer.map(Double.init) }
    }
}
