import MartletHTTP
import MartletModel
import MartletServer

/// `martlet send`: one notification through a hub's REST API.
enum SendCommand {
    static let command = Command(
        "send", operands: ["HUB"], "Send a notification through a hub and print its id.",
        options: [
            Option("connection-string", "CS", "A connection string with the right to send."),
            Option("platform", "FORMAT", "The format of the body: \(Platforms.formats.joined(separator: ", "))."),
            Option("tags", "EXPR", "Whom it is for; everybody where it is not given."),
            Option("handle", "HANDLE", "Send to this one handle instead."),
            Option("body", "TEXT", "The payload, as the push service takes it."),
            Option(
                "expires", "TIME", "When it is given up: a time such as 2026-11-21T09:22:56Z, or PT90M from the start."),
            Option("at", "TIME", "Send it at this time, in UTC, such as 2026-11-21T09:22:56."),
            Option("replace", "ID", "With --at: put it in the place of a notification that has not begun."),
            Option("header", "NAME:VALUE", "A header field for the push service."),
            Option("confidential", nil, "Show the payload to nobody but the devices: no trace or telemetry has it."),
            Option("ca-file", "FILE", "The authority to trust instead of the system's."),
            Option("dry-run", nil, "Send nothing; print whom it would go to, what they would get, and what is wrong."),
            Option("wait", nil, "Wait until it is delivered and print what became of it."),
        ]
    ) { invocation in
        let hub = try HubClient(invocation)
        if invocation.isOn("dry-run") { return try await hub.tryOut(invocation) }
        let location = try await hub.send(invocation)
        let id = location.split(separator: "?")[0].split(separator: "/").last.map(String.init) ?? ""
        Terminal.print(id)
        if invocation.isOn("wait") { try await hub.waitForOutcome(of: id) }
    }
}

/// States of a notification that do not change any more.
private let finalStates = ["Completed", "NoTargetFound", "Abandoned", "Canceled"]

extension HubClient {
    /// - Returns: The address of the notification.
    fileprivate func send(_ invocation: Invocation) async throws -> String {
        let response = try await post(invocation)
        guard let location = response.fields["location"] else { throw ServerError("The hub gave no id.") }
        return location
    }

    /// Prints what a send would come to.
    /// - Throws: `ServerError` where something is wrong with it, so that a script notices.
    fileprivate func tryOut(_ invocation: Invocation) async throws {
        let report = DryRunReport(try JSON(parsing: try await post(invocation, "&dryRun").bytes))
        for line in report.lines { Terminal.print(line) }
        let count = report.problems.count
        guard count == 0 else { throw ServerError("The send has \(count == 1 ? "a problem" : "\(count) problems").") }
    }

    /// - Parameter query: Further items, each behind an ampersand.
    private func post(_ invocation: Invocation, _ query: String = "") async throws -> HTTPResponse {
        var fields: HTTPFields = [
            "servicebusnotification-format": try invocation.required("platform"),
            "content-type": "application/json; charset=utf-8",
        ]
        let (method, path) = try address(invocation)
        var target = path + "?api-version=2020-06\(query)"
        if let expires = invocation["expires"] { fields["martlet-expires"] = expires }
        if let time = invocation["at"] { fields["servicebusnotification-scheduletime"] = time }
        if let tags = invocation["tags"] { fields["servicebusnotification-tags"] = tags }
        if let handle = invocation["handle"] {
            fields["servicebusnotification-devicehandle"] = handle
            target += "&direct"
        }
        if let header = invocation["header"] {
            let parts = header.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else {
                throw UsageError(description: "--header must be NAME:VALUE.", command: invocation.command)
            }
            fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        if invocation.isOn("confidential") { fields["martlet-confidential"] = "true" }
        let body = Array(try invocation.required("body").utf8)
        return try await call(method, target, fields: fields, body: body)
    }

    /// By which request, and where, a notification is sent.
    private func address(_ invocation: Invocation) throws -> (HTTPMethod, path: String) {
        switch (invocation["at"], invocation["replace"]) {
        case (nil, nil): return (.post, "/\(hub)/messages")
        case (_?, nil): return (.post, "/\(hub)/schedulednotifications")
        case (_?, let id?): return (.put, "/\(hub)/schedulednotifications/\(segment(id))")
        case (nil, _?):
            throw UsageError(description: "--replace needs --at as well.", command: invocation.command)
        }
    }

    /// Asks until the notification is final, then prints a line per outcome.
    fileprivate func waitForOutcome(of id: String) async throws {
        while true {
            let response = try await call(.get, "/\(hub)/messages/\(segment(id))?api-version=2020-06")
            let details = NotificationDetails(xml: String(decoding: response.bytes, as: UTF8.self))
            if finalStates.contains(details.state) {
                Terminal.print("State: \(details.state)")
                for outcome in details.outcomes { Terminal.print("\(outcome.name): \(outcome.count)") }
                return
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
