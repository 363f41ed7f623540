import MartletModel

/// Formats the result of a dry run, a JSON document from the hub, as lines of text.
struct DryRunReport {
    private let run: JSON

    init(_ run: JSON) {
        self.run = run
    }

    var problems: [String] { (run["problems"]?.array ?? []).compactMap(\.string) }

    var lines: [String] {
        let platforms = (run["platforms"]?.object ?? [:]).sorted { $0.key < $1.key }
        let head = "Nothing was sent. A send would be \(pushes(run, "targeted"))."
        let reported =
            platforms.flatMap { lines(of: $0.key, $0.value) } + languages + cautions + problems.map { "Problem: \($0)" }
        return ([head] + times + reported).map(Terminal.singleLine)
    }

    private var times: [String] {
        var lines = [("Starts", "startsAt"), ("Expires", "expiresAt")].compactMap { name, member in
            run[member]?.string.map { "\(name): \($0)" }
        }
        if let rollout = run["rollout"], let spec = rollout["spec"]?.string {
            let numbers = ["rate", "seconds"].map { ControlCommands.rounded(rollout[$0]?.number ?? 0) }
            let pace = rollout["rate"]?.number == nil ? "" : ", \(numbers[0]) a second for \(numbers[1]) s"
            let sample = rollout["sample"]?.integer.map { ", a sample of \($0.grouped) first" } ?? ""
            lines.append("Roll-out: \(spec)\(pace)\(sample)")
        }
        return lines
    }

    private func lines(of platform: String, _ part: JSON) -> [String] {
        let credential = part["credential"]
        let expiry = credential?["expiresAt"]?.string.map { " until \($0)" } ?? ""
        var lines = [
            "\(platform): \(pushes(part, "targeted")), credential \(credential?["state"]?.string ?? "")\(expiry)"
        ]
        for payload in part["payloads"]?.array ?? [] {
            lines.append(line(payload))
            if let appearance = payload["appearance"], appearance != .null {
                lines += NotificationPicture(appearance).lines.map { "    " + $0 }
            }
        }
        if let further = part["furtherTemplates"]?.integer, further > 0 {
            lines.append("  \(further) further templates: \(pushes(part, "furtherPushes"))")
        }
        if let untried = part["untriedPushes"]?.integer, untried > 0 {
            lines.append("  payloads not tried: \(pushes(part, "untriedPushes"))")
        }
        return lines
    }

    private var cautions: [String] {
        (run["cautions"]?.array ?? []).compactMap(\.string).map { "Caution: \($0)" }
    }

    /// The line about devices whose languages the message lacks; empty if the message lacks none.
    private var languages: [String] {
        let missing = (run["missingLanguages"]?.array ?? []).compactMap(\.string)
        guard !missing.isEmpty else { return [] }
        return ["Devices with these languages get the message in its own: \(missing.joined(separator: ", "))"]
    }

    private func line(_ payload: JSON) -> String {
        let name = payload["template"].map { template in
            template["name"]?.string.map { "template '\($0)', " } ?? "template, "
        }
        let renderings = payload["renderings"]?.integer ?? 1
        let variety = renderings > 1 ? ", the largest of \(renderings)" : ""
        let body = payload["body"]?.string ?? payload["base64"]?.string
        let content = body.map { "\(payload["size"]?.integer ?? 0) bytes\(variety): \($0)" } ?? "nothing to send"
        let language = payload["language"]?.string.map { " in \($0)" } ?? ""
        return "  \(name ?? "")\(pushes(payload, "pushes"))\(language), \(content)"
    }

    private func pushes(_ members: JSON, _ name: String) -> String {
        let count = members[name]?.integer ?? 0
        return count == 1 ? "1 push" : "\(count) pushes"
    }
}
