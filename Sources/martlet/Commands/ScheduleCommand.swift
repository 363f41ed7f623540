import MartletHTTP
import MartletModel
import MartletServer

/// `martlet schedules`: lists the scheduled notifications of a hub.
enum ScheduleCommand {
    static let command = Command(
        "schedules", operands: ["HUB"],
        "List the scheduled notifications of a hub, the earliest first. 'martlet cancel' withdraws one, "
            + "'martlet send --at TIME --replace ID' changes it.",
        options: [
            .data, .adminSocket,
            Option(
                "connection-string", "CS",
                "A connection string with the right Manage; without it, the server on --data is asked.",
                isSecret: true),
            Option("ca-file", "FILE", "The authority to trust instead of the system's."),
            Option("json", nil, "Print everything that is known, as JSON: a line for each notification."),
        ]
    ) { invocation in
        let hub = try HubClient(invocation)
        var (query, isFirst) = ("", true)
        while true {
            let page = try JSON(
                parsing: try await hub.call(
                    .get, "/\(hub.hub)/schedulednotifications?api-version=2020-06\(query)"
                ).bytes)
            let schedules = page["schedules"]?.array ?? []
            for schedule in schedules where !invocation.printJSON(schedule) {
                Terminal.print(Terminal.singleLine(line(schedule)))
            }
            if isFirst, schedules.isEmpty, !invocation.isOn("json") { Terminal.print("No notification is scheduled.") }
            guard let next = page["continuation"]?.string else { return }
            (query, isFirst) = ("&continuation=\(segment(next))", false)
        }
    }

    static func line(_ schedule: JSON) -> String {
        func text(_ name: String) -> String { schedule[name]?.string ?? "" }
        let target =
            if let handles = schedule["handles"]?.integer {
                handles.counted("handle")
            } else {
                schedule["tags"]?.string ?? "everybody"
            }
        let control = text("control") == "running" ? "" : ", \(text("control"))"
        let title = text("title").isEmpty ? "" : ": \(text("title"))"
        return "\(text("dueAt")) \(text("notification")) \(text("format")) to \(target)\(control)\(title)"
    }
}
