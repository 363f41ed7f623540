import MartletHTTP
import MartletModel
import MartletServer

/// `martlet audience`: counts the devices that a send would reach.
enum AudienceCommand {
    static let command = Command(
        "audience", operands: ["HUB", "EXPR"],
        "Count the devices that a send to a tag expression would reach now, by platform. '*' means all devices.",
        options: [
            .data, .adminSocket,
            Option("format", "FORMAT", "Only sends of this format: \(Platforms.formatsWithPlatforms)."),
            Option("json", nil, "Print the numbers as JSON."),
        ]
    ) { invocation in
        let expression = invocation.operand("EXPR")
        var query: [String] = []
        if expression != "*" { query.append("tags=\(segment(expression))") }
        let form = "one of \(Platforms.formatsWithPlatforms)"
        let format = try invocation.optional("format", as: form) { Platforms.format(named: $0) }
        if let format { query.append("format=\(segment(format))") }
        let path = "/hubs/\(segment(invocation.operand("HUB")))/audience?\(query.joined(separator: "&"))"
        let count = try await Administration(invocation).call(.get, path)
        guard !invocation.isOn("json") else {
            return Terminal.print(String(decoding: count.bytes, as: UTF8.self))
        }
        for line in lines(count) { Terminal.print(line) }
    }

    /// Returns a line for the total, one line for each platform, and one line if the counts were not all taken at the
    /// same point in time.
    static func lines(_ count: JSON) -> [String] {
        let head = "\(counted(count, "devices", "device")), \(counted(count, "registrations", "registration"))"
        let platforms = (count["platforms"]?.object ?? [:]).sorted { $0.key < $1.key }.map { name, part in
            "\(name): \(counted(part, "devices", "device")): native \(number(part, "native")), "
                + "templates \(number(part, "templates"))"
        }
        let isConsistent = count["isOfOneMoment"]?.bool ?? true
        return ([head] + platforms).map(Terminal.singleLine)
            + (isConsistent ? [] : ["Registrations changed while they were counted."])
    }

    private static func number(_ members: JSON, _ name: String) -> Int64 { members[name]?.integer ?? 0 }

    private static func counted(_ members: JSON, _ name: String, _ singular: String) -> String {
        let count = number(members, name)
        return "\(count) \(count == 1 ? singular : name)"
    }
}
