import MartletHTTP
import MartletModel
import MartletServer

/// `martlet why`: explains what happened to a notification on a device, or on the devices of a user.
enum WhyCommand {
    static let command = Command(
        "why", operands: ["HUB", "NOTIFICATION", "[DEVICE]"],
        "Say why a notification did or did not reach a device, by what was true when it was sent. NOTIFICATION is the id "
            + "that the send was answered with, DEVICE the id of a registration or an installation, known or not, or the "
            + "name of a user, for all of the user's devices.",
        options: [
            .data, .adminSocket, Option("user", "NAME", "Explain it for each device of this user, instead of DEVICE."),
            Option("json", nil, "Print everything that is known, as JSON; a line for each device."),
        ]
    ) { invocation in
        let explanation = Explanation(
            administration: try Administration(invocation), hub: segment(invocation.operand("HUB")),
            notification: segment(invocation.operand("NOTIFICATION")), isJSON: invocation.isOn("json"))
        switch (invocation.optionalOperand("DEVICE"), invocation["user"]) {
        case (let device?, nil): try await explanation.printDevice(device)
        case (nil, let user?):
            guard try await explanation.printDevices(of: user) else {
                throw ServerError("A user '\(user)' has no device in this hub, and had none not long ago.")
            }
        default:
            throw UsageError(description: "Give DEVICE or --user NAME.", command: invocation.command)
        }
    }
}

/// The explanation of what happened to one notification.
private struct Explanation {
    let administration: Administration
    /// The hub and the notification, encoded for URLs.
    let hub: String
    let notification: String
    let isJSON: Bool

    /// Prints the explanation for a device, or for the devices of the user with this name.
    /// - Throws: `ServerError` if nothing is known of the device, and no user with devices has this name.
    func printDevice(_ device: String) async throws {
        let trace = try await trace(of: device)
        guard trace["verdict"]?.string == "unknownDevice" else { return show(trace) }
        guard try await !printDevices(of: device) else { return }
        if isJSON { show(trace) }
        throw ServerError(
            "Nothing is known of '\(device)' in this hub: it is no registration, no installation, and no user with devices."
        )
    }

    /// Prints the explanation for each device that a user has, or had not long ago.
    /// - Returns: False if the user has and had no devices in the hub.
    func printDevices(of user: String) async throws -> Bool {
        var isComplete = true
        var found: [JSON] = []
        for (kind, text) in [("user", user), ("tag", "$UserId:{\(user)}")] {
            let answer = try await administration.call(
                .post, "/hubs/\(hub)/devices/search",
                body: ["kind": .string(kind), "text": .string(text), "isExact": true])
            found += answer["devices"]?.array ?? []
            isComplete = isComplete && answer["isComplete"]?.bool != false
        }
        // A text that is not a valid user name is refused with an error. No user with that name had devices, so the
        // error is ignored.
        let former = try? await administration.call(
            .post, "/hubs/\(hub)/devices/former", body: ["user": .string(user)])
        found += former?["devices"]?.array ?? []
        var seen: Set<String> = []
        for device in found {
            guard let id = device["installation"]?.string ?? device["registration"]?.string,
                seen.insert(id).inserted
            else { continue }
            let trace = try await trace(of: id)
            if !isJSON {
                let ending = device["endedAt"]?.string.map { ", until \($0) (\(device["change"]?.string ?? ""))" } ?? ""
                Terminal.print(
                    Terminal.singleLine(
                        "Device \(id) (\(device["platform"]?.string ?? "")) of user '\(user)'\(ending):"))
            }
            show(trace)
        }
        if !isComplete { Terminal.complain("martlet: the user has further devices, which are not shown.") }
        return !seen.isEmpty
    }

    private func trace(of device: String) async throws -> JSON {
        try await administration.call(.get, "/hubs/\(hub)/messages/\(notification)/devices/\(segment(device))")
    }

    private func show(_ trace: JSON) {
        guard !isJSON else { return Terminal.print(String(decoding: trace.bytes, as: UTF8.self)) }
        for sentence in (trace["explanation"]?.array ?? []).compactMap(\.string) {
            Terminal.print(Terminal.singleLine(sentence))
        }
        for payload in (trace["registrations"]?.array ?? []).compactMap({ $0["payload"] }) { show(payload: payload) }
    }

    private func show(payload: JSON) {
        let size = payload["size"]?.integer ?? 0
        Terminal.print("Payload of \(size) bytes, SHA-256 \(payload["sha256"]?.string ?? ""):")
        let body = payload["body"]?.string ?? payload["base64"]?.string
        Terminal.print(Terminal.singleLine("  \(body ?? "not shown, because the notification is confidential")"))
    }
}
