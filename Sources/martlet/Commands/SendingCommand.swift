import MartletHTTP
import MartletModel
import MartletServer

/// `martlet hub sending`: shows and sets the testers of a hub, and the name and icon of its app in previews.
enum SendingCommand {
    static let command = Command(
        "hub sending", operands: ["NAME"],
        "Print or change the testers of a hub, and the name and icon of its app in previews.",
        options: [
            .data, .adminSocket,
            Option(
                "testers", "EXPR", "A tag expression for the devices that 'martlet send --test' goes to; '' for none."),
            Option("app-name", "TEXT", "The name of the app; '' for none."),
            Option("app-icon", "URL", "The https address of its icon; '' for none."),
            .json("testers, and app with name and icon; null where there is none"),
        ]
    ) { invocation in
        let path = "/\(segment(invocation.operand("NAME")))/sending?api-version=2020-06"
        let administration = try Administration(invocation)
        var sending = try await call(.get, path, administration)
        let changes = ["testers", "app-name", "app-icon"].filter { invocation[$0] != nil }
        if !changes.isEmpty {
            func text(_ option: String, _ old: JSON?) -> JSON {
                invocation[option].map { $0.isEmpty ? .null : .string($0) } ?? old ?? .null
            }
            let app = sending["app"]
            let body: JSON = [
                "testers": text("testers", sending["testers"]),
                "app": ["name": text("app-name", app?["name"]), "icon": text("app-icon", app?["icon"])],
            ]
            sending = try await call(.put, path, administration, body: body.bytes)
        }
        guard !invocation.printJSON(sending) else { return }
        let app = sending["app"]
        for (name, value) in [("testers", sending["testers"]), ("app name", app?["name"]), ("app icon", app?["icon"])] {
            Terminal.print(Terminal.singleLine("\(name): \(value?.string ?? "none")"))
        }
    }

    private static func call(
        _ method: HTTPMethod, _ path: String, _ administration: Administration, body: [UInt8] = []
    ) async throws -> JSON {
        let response = try await administration.rest(
            method, path, fields: ["content-type": "application/json; charset=utf-8"], body: body)
        guard response.status.isSuccess else {
            let text = String(decoding: response.bytes, as: UTF8.self)
            throw ServerError(
                NotificationDetails.withoutTracking(NotificationDetails.text(of: "Detail", in: text) ?? text))
        }
        return try JSON(parsing: response.bytes)
    }
}
