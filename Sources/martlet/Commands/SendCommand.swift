import MartletHTTP
import MartletModel
import MartletServer

/// `martlet send`: sends one notification through a hub's REST API.
enum SendCommand {
    static let command = Command(
        "send", operands: ["HUB"], "Send a notification through a hub and print its id.",
        options: [.data, .adminSocket] + SendTarget.options + [
            Option(
                "connection-string", "CS",
                "A connection string with the right Send; without it, the server on --data is asked.",
                isSecret: true),
            Option("platform", "FORMAT", "The format of the body: \(Platforms.formatsWithPlatforms)."),
            Option(
                "body", "TEXT",
                "The payload in the push service's format; with --platform message the message as JSON."),
            Option(
                "expires", "TIME",
                "When it expires: a time such as 2026-11-21T09:22:56, in UTC or with a zone, or 90m from the start."
            ),
            Option(
                "at", "TIME",
                "Send it at this time, such as 2026-11-21T09:22:56, in UTC or with a zone, or after a while, such as 2h."
            ),
            Option("replace", "ID", "With --at: replace a notification that has not begun."),
            Option("header", "NAME:VALUE", "A header field for the push service."),
            Option("confidential", nil, "Show the payload only on the devices, not in traces or telemetry."),
            Option(
                "rollout", "SPEC",
                "The roll-out: rate=500, pushes a second, or over=10m; 'first=1%; wait=10m' for a canary; '; halt=5%' to stop "
                    + "it if too many pushes fail."),
        ] + ComposedBody.options + [
            Option("ca-file", "FILE", "The authority to trust instead of the system's."),
            Option(
                "test", nil,
                "Send a test at once and print the outcome of each push: without --tags and --handle to the hub's testers "
                    + "('martlet hub sending'; needs the right Manage), with --tags to at most ten of the devices that match, "
                    + "whoever the testers are. Not with --everybody."),
            Option("dry-run", nil, "Send nothing; print the audience, the payloads and any problems."),
            Option(
                "wait", nil,
                "Wait until it has ended, or until a canary holds, and print the result; exit with 1 unless every device was "
                    + "reached. Needs the right Manage."),
            Confirmation.option,
            .json(
                "notification; with --wait also state, and outcomes by name; with --dry-run all that was found"),
        ]
    ) { invocation in
        guard invocation["at"] == nil || !invocation.isOn("wait") else {
            throw UsageError(
                description: "--wait is not for --at: 'martlet status' tells later what became of it.",
                command: invocation.command)
        }
        if invocation.isOn("test") {
            guard !invocation.isOn("everybody") else {
                throw UsageError(
                    description: "--test is not for --everybody: leave --everybody out to send to the hub's testers, "
                        + "or name a few devices with --tags.", command: invocation.command)
            }
            for other in ["at", "rollout", "replace"] where invocation[other] != nil {
                throw UsageError(
                    description: "--test is not for --\(other): a test goes out at once.", command: invocation.command)
            }
        }
        let hub = try HubClient(invocation)
        let target = try await SendTarget(invocation, testersOf: hub)
        let format = try invocation.format()
        let send = HubSend(hub: hub, target: target, format: format, invocation: invocation)
        if invocation.isOn("dry-run") { return try await send.tryOut() }
        if invocation.isOn("test") { return try await send.test() }
        try await send.confirm()
        let location = try await send.accept()
        let id = location.split(separator: "?")[0].split(separator: "/").last.map(String.init) ?? ""
        guard invocation.isOn("wait") else {
            if !invocation.printJSON(["notification": .string(id)]) { Terminal.print(id) }
            return
        }
        if !invocation.isOn("json") { Terminal.print(id) }
        try await send.waitForOutcome(of: id)
    }
}

/// One send, as a command line requests it.
private struct HubSend {
    /// The maximum number of devices to which a notification is sent without asking a person at the terminal.
    private static let unaskedLimit: Int64 = 1000

    let hub: HubClient
    let target: SendTarget
    let format: String
    let invocation: Invocation

    /// Asks a person at a terminal whether to send to more than `unaskedLimit` devices.
    /// - Throws: `ServerError` if the answer is not yes.
    func confirm() async throws {
        guard Confirmation.canAsk(invocation), let devices = try await audience(), devices > Self.unaskedLimit else {
            return
        }
        try Confirmation.ask(invocation, "This goes to \(devices.counted("device")). Send?")
    }

    /// Counts the devices that the send would reach now.
    /// - Returns: nil for a send to a single handle.
    private func audience() async throws -> Int64? {
        var query = "?format=\(segment(format))"
        switch target {
        case .handle: return nil
        case .tags(let expression): query += "&tags=\(segment(expression))"
        case .everybody: break
        }
        let answer = try await hub.call(.get, "/\(hub.hub)/audience\(query)")
        return try JSON(parsing: answer.bytes)["devices"]?.integer ?? 0
    }

    /// Sends the notification.
    /// - Returns: The URL of the notification.
    func accept() async throws -> String {
        let response = try await post()
        guard let location = response.fields["location"] else { throw ServerError("The hub gave no id.") }
        if let control = response.fields["martlet-control"] {
            Terminal.complain("It is \(control): 'martlet resume \(hub.hub) ID' continues it.")
        }
        return location
    }

    /// Makes a dry run and prints its result.
    /// - Throws: `ServerError` if the send has a problem, so that a script notices the problem.
    func tryOut() async throws {
        let run = try JSON(parsing: try await post("&dryRun").bytes)
        let report = DryRunReport(run)
        if !invocation.printJSON(run) { for line in report.lines { Terminal.print(line) } }
        let count = report.problems.count
        guard count == 0 else { throw ServerError("The send has \(count == 1 ? "a problem" : "\(count) problems").") }
    }

    /// Sends to a few devices and prints the outcome of each push.
    /// - Throws: `ServerError` if not every device was reached, so that a script notices the failure.
    func test() async throws {
        let response = try await post("&test")
        let text = String(decoding: response.bytes, as: UTF8.self)
        func texts(_ element: String) -> [String] { NotificationDetails.texts(of: element, in: text) }
        let rows = zip(zip(texts("ApplicationPlatform"), texts("RegistrationId")), texts("Outcome"))
        for ((platform, registration), outcome) in rows {
            let json: JSON = [
                "platform": .string(platform), "registration": .string(registration), "outcome": .string(outcome),
            ]
            if !invocation.printJSON(json) {
                Terminal.print(Terminal.singleLine("\(platform) \(registration): \(outcome)"))
            }
        }
        let failures = texts("Failure").first.flatMap { Int($0) } ?? 0
        let successes = texts("Success").first.flatMap { Int($0) } ?? 0
        guard successes + failures > 0 else { throw ServerError("No device got it: the audience is empty.") }
        guard failures == 0 else { throw ServerError("\(failures) of \(successes + failures) failed.") }
    }

    /// Sends the request of the send to the hub.
    /// - Parameter query: Further query items, each with an ampersand in front of it.
    private func post(_ query: String = "") async throws -> HTTPResponse {
        var fields: HTTPFields = [
            "servicebusnotification-format": format,
            "content-type": "application/json; charset=utf-8",
        ]
        let (method, path) = try address()
        var target = path + "?api-version=2020-06\(query)"
        fields["martlet-expires"] = try invocation.expiry()
        fields["servicebusnotification-scheduletime"] = try invocation.start(now: SystemTime().now)?.iso8601
        if let rollout = invocation.rollout() { fields["martlet-rollout"] = rollout }
        switch self.target {
        case .tags(let expression): fields["servicebusnotification-tags"] = expression
        case .handle(let handle):
            fields["servicebusnotification-devicehandle"] = handle
            target += "&direct"
        case .everybody: break
        }
        if let header = invocation["header"] {
            let parts = header.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else {
                throw UsageError(description: "--header must be NAME:VALUE.", command: invocation.command)
            }
            fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        if invocation.isOn("confidential") { fields["martlet-confidential"] = "true" }
        let body = try ComposedBody.body(invocation, format: format)
        return try await hub.call(method, target, fields: fields, body: body)
    }

    /// Returns the method and the path of the request that sends the notification.
    private func address() throws -> (HTTPMethod, path: String) {
        switch (invocation["at"], invocation["replace"]) {
        case (nil, nil): return (.post, "/\(hub.hub)/messages")
        case (_?, nil): return (.post, "/\(hub.hub)/schedulednotifications")
        case (_?, let id?): return (.put, "/\(hub.hub)/schedulednotifications/\(segment(id))")
        case (nil, _?):
            throw UsageError(description: "--replace needs --at as well.", command: invocation.command)
        }
    }
}

extension HubSend {
    /// Polls the status until the notification has ended, then prints a line for each outcome. While a long send runs,
    /// shows its progress.
    /// - Throws: `ServerError` if not every device was reached, or if a canary holds, so that a script notices this.
    func waitForOutcome(of id: String) async throws {
        let path = "/\(hub.hub)/messages/\(segment(id))"
        let display = ProgressDisplay(.items)
        defer { display.end() }
        var (total, pause): (Int64?, Duration) = (nil, .milliseconds(100))
        while true {
            let progress = SendProgress(try JSON(parsing: try await hub.call(.get, path + "/status").bytes))
            if progress.isOver {
                display.end()
                let response = try await hub.call(.get, path + "?api-version=2020-06")
                let details = NotificationDetails(xml: String(decoding: response.bytes, as: UTF8.self))
                let outcomes = details.outcomes.map { ($0.name, JSON.integer(Int64($0.count))) }
                let summary: JSON = [
                    "notification": .string(id), "state": .string(details.state),
                    "outcomes": .object(Dictionary(outcomes, uniquingKeysWith: { first, _ in first })),
                ]
                if !invocation.printJSON(summary) {
                    Terminal.print("State: \(details.state)")
                    for outcome in details.outcomes { Terminal.print("\(outcome.name): \(outcome.count)") }
                }
                if let failure = progress.failure { throw ServerError(failure) }
                return
            }
            if let sentence = progress.holding(of: hub.hub, id) {
                display.end()
                if invocation.isOn("json") {
                    _ = invocation.printJSON(["notification": .string(id), "state": "Holding"])
                }
                throw ServerError(sentence)
            }
            if pause > .milliseconds(400) {
                // The status contains the number of targeted devices only after the whole audience has been read.
                if progress.targeted == nil, total == nil { total = try? await audience() }
                display.show(progress.done, of: progress.targeted ?? total, notes: progress.notes)
            }
            // The server does not report the end of a send, so the status is polled, at growing intervals.
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(1))
        }
    }
}

extension Invocation {
    /// Returns the format of a send. The option names the format, or a platform that has the format.
    func format() throws(UsageError) -> String {
        try required("platform", as: "one of \(Platforms.formatsWithPlatforms)") { Platforms.format(named: $0) }
    }

    /// Returns the time at which a notification is to be sent; nil means now.
    func start(now: Timestamp) throws(UsageError) -> Timestamp? {
        let form = "a time such as 2026-11-21T09:22:56, in UTC or with a zone, or a duration \(DurationText.form)"
        let timestamp = try optional("at", as: form) { text in
            DurationText(text).map { now + .seconds($0.seconds) } ?? Timestamp(iso8601: text)
        }
        // A time within the last minute is accepted, because a user who names the current minute means now.
        guard let timestamp, timestamp + .seconds(60) < now else { return timestamp }
        throw UsageError(
            description: "--at \(timestamp.iso8601) is in the past; leave it out to send now.", command: command)
    }

    /// Returns the roll-out in the form that the hub's header accepts, with durations in ISO 8601 format; nil if the
    /// option is not given.
    func rollout() -> String? {
        self["rollout"].map { text in
            text.split(separator: ";", omittingEmptySubsequences: false).map { part in
                let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                let name = words[0].filter { !$0.isWhitespace }
                guard words.count == 2, ["over", "wait"].contains(name),
                    let duration = DurationText(words[1].filter { !$0.isWhitespace })
                else { return String(part) }
                return "\(name)=\(duration.iso8601)"
            }.joined(separator: ";")
        }
    }

    /// Returns when the notification expires, in the form that the hub's header accepts; nil means that the hub's
    /// default applies.
    func expiry() throws(UsageError) -> String? {
        let form = "a time such as 2026-11-21T09:22:56, in UTC or with a zone, or a duration \(DurationText.form)"
        return try optional("expires", as: form) { text in
            text.hasPrefix("P") ? text : DurationText(text)?.iso8601 ?? Timestamp(iso8601: text)?.iso8601
        }
    }
}
