import MartletHTTP
import MartletModel
import MartletServer

/// `martlet send`: one notification through a hub's REST API.
enum SendCommand {
    static let command = Command(
        "send", operands: ["HUB"], "Send a notification through a hub and print its id.",
        options: [
            Option("connection-string", "CS", "A connection string with the right to send.", isSecret: true),
            Option("platform", "FORMAT", "The format of the body: \(Platforms.formats.joined(separator: ", "))."),
            Option("tags", "EXPR", "Whom it is for; everybody where it is not given."),
            Option("handle", "HANDLE", "Send to this one handle instead."),
            Option("body", "TEXT", "The payload, as the push service takes it."),
            Option(
                "expires", "TIME",
                "When it is given up: a time such as 2026-11-21T09:22:56, in UTC or with a zone, or PT90M from the start."
            ),
            Option("at", "TIME", "Send it at this time, such as 2026-11-21T09:22:56, in UTC or with a zone."),
            Option("replace", "ID", "With --at: put it in the place of a notification that has not begun."),
            Option("header", "NAME:VALUE", "A header field for the push service."),
            Option("confidential", nil, "Show the payload to nobody but the devices: no trace or telemetry has it."),
            Option(
                "rollout", "SPEC",
                "How fast it goes out: rate=500, pushes a second, or over=PT10M; then, to stop it: '; halt=5%'."),
            Option("ca-file", "FILE", "The authority to trust instead of the system's."),
            Option("dry-run", nil, "Send nothing; print whom it would go to, what they would get, and what is wrong."),
            Option(
                "wait", nil,
                "Wait until it is over and print what became of it; exit with 1 unless everybody got it. Needs the right "
                    + "to manage."),
        ]
    ) { invocation in
        guard invocation["at"] == nil || !invocation.isOn("wait") else {
            throw UsageError(
                description: "--wait is not for --at: 'martlet status' tells later what became of it.",
                command: invocation.command)
        }
        let hub = try HubClient(invocation)
        if invocation.isOn("dry-run") { return try await hub.tryOut(invocation) }
        let location = try await hub.send(invocation)
        let id = location.split(separator: "?")[0].split(separator: "/").last.map(String.init) ?? ""
        Terminal.print(id)
        if invocation.isOn("wait") { try await hub.waitForOutcome(of: id) }
    }
}

extension HubClient {
    /// - Returns: The address of the notification.
    fileprivate func send(_ invocation: Invocation) async throws -> String {
        let response = try await post(invocation)
        guard let location = response.fields["location"] else { throw ServerError("The hub gave no id.") }
        if let control = response.fields["martlet-control"] {
            Terminal.complain("It is \(control): 'martlet resume \(hub) ID' lets it go out.")
        }
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

    /// - Parameter query: Further items, each after an ampersand.
    private func post(_ invocation: Invocation, _ query: String = "") async throws -> HTTPResponse {
        var fields: HTTPFields = [
            "servicebusnotification-format": try invocation.required("platform"),
            "content-type": "application/json; charset=utf-8",
        ]
        let (method, path) = try address(invocation)
        var target = path + "?api-version=2020-06\(query)"
        fields["martlet-expires"] = try invocation.expiry()
        fields["servicebusnotification-scheduletime"] = try invocation.start(now: SystemTime().now)?.iso8601
        if let tags = invocation["tags"] { fields["servicebusnotification-tags"] = tags }
        if let rollout = invocation["rollout"] { fields["martlet-rollout"] = rollout }
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

    /// Asks until the notification is over, then prints a line per outcome. Of one that takes longer it tells on standard
    /// error how far it is.
    /// - Throws: `ServerError` where not everybody got it, so that a script notices.
    fileprivate func waitForOutcome(of id: String) async throws {
        let path = "/\(hub)/messages/\(segment(id))"
        var (last, pause): (SendProgress?, Duration) = (nil, .milliseconds(100))
        while true {
            let progress = SendProgress(try JSON(parsing: try await call(.get, path + "/status").bytes))
            if progress.isOver {
                let response = try await call(.get, path + "?api-version=2020-06")
                let details = NotificationDetails(xml: String(decoding: response.bytes, as: UTF8.self))
                Terminal.print("State: \(details.state)")
                for outcome in details.outcomes { Terminal.print("\(outcome.name): \(outcome.count)") }
                if let failure = progress.failure { throw ServerError(failure) }
                return
            }
            if pause > .milliseconds(400), progress != last {
                Terminal.complain("martlet: \(progress.sentence)")
                last = progress
            }
            // A server tells nobody by itself that a send is over, so it is asked again, more and more seldom.
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(1))
        }
    }
}

extension Invocation {
    /// When a notification is to go out; nil: now.
    func start(now: Timestamp) throws(UsageError) -> Timestamp? {
        let timestamp = try optional("at", as: "a time such as 2026-11-21T09:22:56, in UTC or with a zone") { text in
            Timestamp(iso8601: text)
        }
        // Who names this very minute means now.
        guard let timestamp, timestamp + .seconds(60) < now else { return timestamp }
        throw UsageError(description: "--at \(timestamp.iso8601) is past; leave it out to send now.", command: command)
    }

    /// When it is given up, as the hub's header takes it; nil: when the hub usually does.
    func expiry() throws(UsageError) -> String? {
        let form = "a time such as 2026-11-21T09:22:56, in UTC or with a zone, or a duration such as PT90M"
        return try optional("expires", as: form) { text in
            text.hasPrefix("P") ? text : Timestamp(iso8601: text)?.iso8601
        }
    }
}
