import MartletCore
import MartletHTTP
import MartletModel

/// The console's routes that pass requests on to the administration API, each with the role that it needs.
struct AdministrationRoutes: Sendable {
    let door: AdministrationDoor
    /// The handler of the simulator's control interface, which is served below `/simulator`; nil if no simulator runs.
    let simulator: (any HTTPHandler)?

    /// The members of a hub's JSON document that the console never shows. A connection string would give access without
    /// the console.
    private static let secrets: Set<String> = ["connectionStrings"]

    var all: [ConsoleRoute] { hubs + credentials + sends + campaigns + devices + rest + server + users + simulation }

    private var hubs: [ConsoleRoute] {
        [
            ConsoleRoute(.get, "/hubs", .anyRole) { call throws(ConsoleRefusal) in
                let (_, entry) = try call.signedIn()
                return try await door.pass(call).changing { json in
                    .array(
                        (json.array ?? []).filter { hub in
                            hub["name"]?.string.flatMap { entry.roles.role(for: $0) } != nil
                        })
                }
            },
            passing(.get, "/hubs/{hub}", .hub(.viewer), without: Self.secrets),
            passing(.put, "/hubs/{hub}", .server(.admin), without: Self.secrets),
            passing(.delete, "/hubs/{hub}", .server(.admin, isFresh: true)),
            passing(.get, "/hubs/{hub}/limits", .hub(.viewer)),
            passing(.put, "/hubs/{hub}/limits", .hub(.admin)),
            passing(.get, "/hubs/{hub}/services", .hub(.viewer)),
            ConsoleRoute(.get, "/hubs/{hub}/tags", .hub(.viewer), work: tags),
            passing(.get, "/hubs/{hub}/tags/prefixes", .hub(.viewer)),
            passing(.get, "/hubs/{hub}/jobs", .hub(.viewer)),
            passing(.get, "/hubs/{hub}/jobs/{job}/failed", .hub(.admin), isAudited: true),
            passing(.get, "/hubs/{hub}/audience", .hub(.viewer)),
        ]
    }

    private var credentials: [ConsoleRoute] {
        [
            passing(.put, "/hubs/{hub}/credentials/{platform}", .hub(.admin), bodyLimit: 1 << 20),
            passing(.post, "/hubs/{hub}/credentials/{platform}/generate", .hub(.admin)),
            passing(.delete, "/hubs/{hub}/credentials/{platform}", .hub(.admin, isFresh: true)),
            passing(.get, "/hubs/{hub}/keys", .hub(.admin, isFresh: true), isAudited: true),
            passing(.post, "/hubs/{hub}/keys/{rule}/{key}", .hub(.admin, isFresh: true)),
        ]
    }

    private var sends: [ConsoleRoute] {
        [
            ConsoleRoute(.get, "/hubs/{hub}/sends", .hub(.viewer)) { call throws(ConsoleRefusal) in
                // A viewer is not told which user asked for a send, so a viewer cannot filter the list by user either.
                let author = call.match.target.item("author")?.value ?? ""
                if call.role == .viewer, author.hasPrefix("user:") { throw .forbidden(.sender, hub: call.hub) }
                return try await door.pass(call).changing { Self.withoutContents($0, for: call.role) }
            },
            ConsoleRoute(.get, "/hubs/{hub}/sends/{id}", .hub(.viewer), work: send),
            ConsoleRoute(.get, "/hubs/{hub}/messages/{id}/status", .hub(.viewer)) { call throws(ConsoleRefusal) in
                try await door.pass(call).changing { Self.withoutUserName($0, for: call.role) }
            },
            passing(.get, "/hubs/{hub}/messages/{id}/funnel", .hub(.viewer)),
            ConsoleRoute(.get, "/hubs/{hub}/messages/{id}/deadletters", .hub(.viewer), work: deadLetters),
            passing(.get, "/hubs/{hub}/messages/{id}/deadletters/reasons", .hub(.viewer)),
            passing(.post, "/hubs/{hub}/messages/{id}/deadletters/resend", .hub(.sender)),
            passing(.post, "/hubs/{hub}/messages/{id}/pause", .hub(.sender)),
            passing(.post, "/hubs/{hub}/messages/{id}/resume", .hub(.sender)),
            passing(.post, "/hubs/{hub}/messages/{id}/cancel", .hub(.sender)),
            ConsoleRoute(.get, "/hubs/{hub}/messages/{id}/devices/{device}", .hub(.viewer), work: trace),
            passing(.get, "/hubs/{hub}/deadletters", .hub(.viewer)),
        ]
    }

    private var campaigns: [ConsoleRoute] {
        [
            passing(.get, "/hubs/{hub}/campaigns", .hub(.viewer)),
            passing(.post, "/hubs/{hub}/campaigns", .hub(.sender), bodyLimit: 1 << 17),
            passing(.get, "/hubs/{hub}/campaigns/{id}", .hub(.sender)),
            passing(.put, "/hubs/{hub}/campaigns/{id}", .hub(.sender), bodyLimit: 1 << 17),
            passing(.put, "/hubs/{hub}/campaigns/{id}/send", .hub(.sender)),
            passing(.delete, "/hubs/{hub}/campaigns/{id}", .hub(.sender)),
        ]
    }

    private var devices: [ConsoleRoute] {
        [
            ConsoleRoute(.post, "/hubs/{hub}/devices/search", .hub(.viewer), isAudited: false, work: search),
            // This request needs the complete name of a user. So a viewer can find no more users with it than with a
            // search.
            ConsoleRoute(.post, "/hubs/{hub}/devices/former", .hub(.viewer), isAudited: false) {
                call throws(ConsoleRefusal) in
                try await door.pass(call).changing(Withholding.maskingHandles)
            },
            ConsoleRoute(.get, "/hubs/{hub}/devices/{id}", .hub(.viewer)) { call throws(ConsoleRefusal) in
                try await door.pass(call).changing(Withholding.maskingHandles)
            },
            ConsoleRoute(.get, "/hubs/{hub}/devices/{id}/sends", .hub(.viewer)) { call throws(ConsoleRefusal) in
                try await door.pass(call).changing { Self.withoutContents($0, for: call.role) }
            },
        ]
    }

    private var rest: [ConsoleRoute] {
        [
            ConsoleRoute(
                .post, "/rest/{hub}/messages", .hub(.sender), bodyLimit: 1 << 17, takesXML: true, work: sendNow),
            ConsoleRoute(
                .post, "/rest/{hub}/schedulednotifications", .hub(.sender), bodyLimit: 1 << 17, takesXML: true,
                work: sendNow),
            ConsoleRoute(
                .put, "/rest/{hub}/schedulednotifications/{id}", .hub(.sender), bodyLimit: 1 << 17, takesXML: true,
                work: sendNow),
            passing(.delete, "/rest/{hub}/schedulednotifications/{id}", .hub(.sender)),
            passing(.get, "/rest/{hub}/sending", .hub(.sender)),
            passing(.put, "/rest/{hub}/sending", .hub(.sender)),
            passing(.put, "/rest/{hub}/installations/{id}", .hub(.admin), bodyLimit: 1 << 17),
            ConsoleRoute(.get, "/rest/{hub}/installations/{id}", .hub(.admin)) { call throws(ConsoleRefusal) in
                try await door.pass(call).changing(Withholding.maskingHandles)
            },
            passing(.delete, "/rest/{hub}/installations/{id}", .hub(.admin)),
            passing(.delete, "/rest/{hub}/registrations/{id}", .hub(.admin)),
        ]
    }

    private var server: [ConsoleRoute] {
        [
            passing(.get, "/server", .anyRole),
            passing(.get, "/operators", .server(.admin)),
            passing(.post, "/operators", .server(.admin, isFresh: true)),
            passing(.put, "/operators/{name}/roles", .server(.admin, isFresh: true)),
            passing(.put, "/operators/{name}/disabled", .server(.admin, isFresh: true)),
            passing(.delete, "/operators/{name}/sessions", .server(.admin, isFresh: true)),
            passing(.delete, "/operators/{name}/factor", .server(.admin, isFresh: true)),
            passing(.get, "/audit/operators", .server(.admin)),
            passing(.get, "/audit", .server(.admin)),
            passing(.get, "/backups", .server(.admin)),
            passing(.post, "/backups", .server(.admin)),
            passing(.post, "/backups/{backup}/verify", .server(.admin)),
            passing(.get, "/backups/{backup}", .server(.admin, isFresh: true), isAudited: true),
            passing(.get, "/server-key", .server(.admin)),
            passing(.post, "/server-key", .server(.admin, isFresh: true)),
            passing(.post, "/server-key/reseal", .server(.admin)),
            passing(.delete, "/server-key", .server(.admin, isFresh: true)),
        ]
    }

    private var users: [ConsoleRoute] {
        [
            passing(.get, "/users", .server(.sender)),
            passing(.get, "/users/{name}", .server(.sender)),
            passing(.put, "/users/{name}", .server(.admin, isFresh: true)),
            passing(.delete, "/users/{name}/sessions", .server(.admin, isFresh: true)),
            passing(.delete, "/users/{name}", .server(.admin, isFresh: true)),
            passing(.put, "/users/{name}/roles/{role}", .server(.admin)),
            passing(.delete, "/users/{name}/roles/{role}", .server(.admin)),
            passing(.put, "/users/{name}/groups/{group}", .server(.admin)),
            passing(.delete, "/users/{name}/groups/{group}", .server(.admin)),
        ]
    }

    /// The routes of the simulator's control interface, which concern only simulated devices.
    ///
    /// Only administrators of the whole server may use them.
    private var simulation: [ConsoleRoute] {
        guard let simulator else { return [] }
        let door = AdministrationDoor(administration: simulator)
        return [HTTPMethod.get, .post, .put, .delete].map { method in
            ConsoleRoute(method, "/simulator/{path...}", .server(.admin), bodyLimit: 1 << 16) {
                call throws(ConsoleRefusal) in try await door.pass(call)
            }
        }
    }

    private func passing(
        _ method: HTTPMethod, _ pattern: String, _ need: RouteNeed, bodyLimit: Int = 16_384, isAudited: Bool? = nil,
        without members: Set<String> = []
    ) -> ConsoleRoute {
        ConsoleRoute(method, pattern, need, bodyLimit: bodyLimit, isAudited: isAudited) { call throws(ConsoleRefusal) in
            let response = try await door.pass(call)
            return members.isEmpty ? response : response.changing { Withholding.removing(members, from: $0) }
        }
    }

    // MARK: Sends

    /// Answers with the JSON document of a send.
    ///
    /// The content is withheld if `reasonToWithhold` returns a reason, for example for a send to a single person. An
    /// administrator can request the content, unless the notification is confidential; the request is then recorded in
    /// the audit log.
    @Sendable private func send(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let response = try await door.pass(call)
        guard !(call.asksForContent && call.role == .admin) else { return response }
        return response.changing { json in
            let json = Self.withoutUserName(json, for: call.role)
            guard case .object(var members) = Self.withoutContent(json, for: call.role),
                let why = Self.reasonToWithhold(json)
            else { return json }
            members["content"] = ["isWithheld": true, "why": .string(why)]
            return .object(members)
        }
    }

    /// Returns a list of sends, each changed by `withoutContent`.
    private static func withoutContents(_ list: JSON, for role: Role?) -> JSON {
        guard case .object(var members) = list, let sends = members["sends"]?.array else { return list }
        members["sends"] = .array(sends.map { withoutContent($0, for: role) })
        return .object(members)
    }

    /// Returns the JSON document of a send; without its text if `reasonToWithhold` returns a reason.
    ///
    /// For a viewer, who may not list users, the tag expression that names the person is removed too.
    private static func withoutContent(_ send: JSON, for role: Role?) -> JSON {
        let send = withoutUserName(send, for: role)
        guard case .object(var members) = send, reasonToWithhold(send) != nil else { return send }
        members["text"] = .null
        if role == .viewer, members["isToOneUser"]?.bool == true { members["expression"] = .null }
        return .object(members)
    }

    /// Returns the JSON document of a send without the name of the user who asked for it, if the reader is a viewer,
    /// who may not list users.
    private static func withoutUserName(_ document: JSON, for role: Role?) -> JSON {
        guard role == .viewer, case .object(var members) = document else { return document }
        for name in ["author", "resentBy"] where members[name]?.string?.hasPrefix("user:") == true {
            members[name] = "user"
        }
        return .object(members)
    }

    /// Returns the reason why the content of a send is withheld; nil if every operator who may see the send may see its
    /// content.
    /// - Parameter send: The JSON document of a send.
    private static func reasonToWithhold(_ send: JSON) -> String? {
        if send["isConfidential"]?.bool == true { return "confidential" }
        if send["isDirect"]?.bool == true { return "direct" }
        return send["isToOneUser"]?.bool == true ? "single-user" : nil
    }

    @Sendable private func trace(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let response = try await door.pass(call).changing { json in
            let json = Self.withoutUserName(json, for: call.role)
            return call.role == .viewer ? Withholding.withoutNames(trace: json) : json
        }
        let send = await sendDocument(call)
        let reason = send.map(Self.reasonToWithhold) ?? "unknown"
        let mayAsk = call.role == .admin && send != nil && reason != "confidential"
        guard let reason, !(mayAsk && call.asksForContent) else { return response }
        return response.changing { Withholding.withoutPayloads(trace: $0, because: reason) }
    }

    /// Answers with the dead letters of a send.
    ///
    /// For a send to a single person or device, a viewer gets only one page, without the devices. A device would reveal
    /// its user. So would the position of the next page, because the same device may also be in the dead letters of a
    /// send to many devices.
    @Sendable private func deadLetters(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        guard call.role == .viewer else { return try await door.pass(call) }
        let send = await sendDocument(call)
        guard send.map(Self.isPersonal) ?? true else { return try await door.pass(call) }
        guard call.match.target.item("continuation") == nil else { throw .forbidden(.sender, hub: call.hub) }
        return try await door.pass(call).changing(Withholding.withoutDevices)
    }

    /// Reads the JSON document of the send that the path names; nil if there is none.
    private func sendDocument(_ call: ConsoleCall) async -> JSON? {
        await door.document(
            "/hubs/\(PercentEncoding.encode(call.match["hub"]))/sends/\(PercentEncoding.encode(call.match["id"]))")
    }

    /// Returns whether a send is to a single person or device.
    /// - Parameter send: The JSON document of the send.
    private static func isPersonal(_ send: JSON) -> Bool {
        send["isToOneUser"]?.bool ?? true || send["isDirect"]?.bool ?? true
    }

    /// Sends a notification.
    ///
    /// A request that names neither tags nor a device is refused, unless it is a dry run, or a header field confirms
    /// that the notification is meant for all devices.
    @Sendable private func sendNow(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        let fields = call.request.fields
        let isNarrow =
            fields["servicebusnotification-tags"] != nil || fields["servicebusnotification-devicehandle"] != nil
        let isDryRun = call.match.target.flag("dryRun")
        guard isNarrow || isDryRun || fields[AdministrationDoor.everybody] == "true" else {
            throw .badRequest("A send without tags goes to everybody: Martlet-Everybody: true says that this is meant.")
        }
        return try await door.pass(call)
    }

    // MARK: Devices, tags and users

    /// Searches for devices and users.
    ///
    /// A viewer can find a user only by the complete name.
    @Sendable private func search(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        var members = try call.body()
        guard let text = members["text"]?.string, (1...2048).contains(text.utf8.count) else {
            throw .badRequest("The body needs a text of 1 to 2048 bytes to search for.")
        }
        members["isExact"] = .bool(call.role == .viewer)
        var call = call
        call.request.body = JSON.object(members).bytes
        return try await door.pass(call).changing(Withholding.maskingHandles)
    }

    /// Lists tags.
    ///
    /// A viewer, who may not list users, does not get tags that name a person or a device. The administration API
    /// leaves these tags out. If this route left them out, the positions of pages would still name them.
    @Sendable private func tags(_ call: ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse {
        guard call.role == .viewer else { return try await door.pass(call) }
        // If a query has several items with the same name, only the first counts. So `personal=no` comes first.
        let query = call.request.target.split(separator: "?", maxSplits: 1).dropFirst().first.map { "&\($0)" } ?? ""
        let path = call.match.target.rawPath.dropFirst(AdministrationDoor.prefix.count)
        return try await door.pass(call, target: "\(path)?personal=no\(query)")
    }
}
