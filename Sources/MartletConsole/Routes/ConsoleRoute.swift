import MartletCore
import MartletHTTP
import MartletModel

/// A route of the console's API.
struct ConsoleRoute: Sendable {
    typealias Work = @Sendable (ConsoleCall) async throws(ConsoleRefusal) -> HTTPResponse

    let method: HTTPMethod
    /// The path pattern below `/console/api`.
    let pattern: String
    let need: RouteNeed
    /// The maximum size of the body, in bytes.
    let bodyLimit: Int
    /// Whether each request to the route is recorded in the audit log.
    let isAudited: Bool
    /// Whether the body may also be XML.
    ///
    /// Some payloads are XML.
    let takesXML: Bool
    let work: Work

    init(
        _ method: HTTPMethod, _ pattern: String, _ need: RouteNeed, bodyLimit: Int = 16_384, isAudited: Bool? = nil,
        takesXML: Bool = false, work: @escaping Work
    ) {
        self.method = method
        self.pattern = pattern
        self.need = need
        self.bodyLimit = bodyLimit
        self.isAudited = isAudited ?? (method != .get)
        self.takesXML = takesXML
        self.work = work
    }

    /// The route's name in the audit log, such as `PUT /hubs/{hub}/limits`.
    var name: String { "\(method.rawValue) \(pattern)" }

    /// Whether the route sends a notification, now or at a later time.
    private var isSend: Bool { pattern == "/rest/{hub}/messages" || pattern.hasPrefix("/rest/{hub}/schedulednotif") }

    /// Returns whether a request is recorded in the audit log.
    ///
    /// A dry run is not recorded: it changes nothing, and pages ask for one at every pause in typing.
    func isRecorded(_ call: ConsoleCall) -> Bool {
        isAudited && !(isSend && call.match.target.flag("dryRun"))
    }

    /// Returns the name of a request in the audit log: the route's name, followed by `?test` for a test send.
    func action(of call: ConsoleCall) -> String {
        isSend && call.match.target.flag("test") ? "\(name)?test" : name
    }

    /// Returns the id of the notification that a request has made, for the audit log. It is taken from the answer's
    /// `Location`; nil if there is none.
    func made(by response: HTTPResponse) -> String? {
        guard isSend, let location = response.fields["location"] else { return nil }
        let id = location.split(separator: "?")[0].split(separator: "/").last.map(String.init)
        return id.flatMap { $0.utf8.count <= 128 ? $0 : nil }
    }

    /// Returns the subject of a request for the audit log, which records the hub separately.
    ///
    /// The subject is the last parameter of the path, or for an invitation the operator's name in the body.
    func subject(of call: ConsoleCall) -> String? {
        if pattern == "/operators" { return (try? call.body())?["name"]?.string.map { String($0.prefix(64)) } }
        let match = call.match
        let names = pattern.split(separator: "/").filter { $0.hasPrefix("{") }.map { $0.dropFirst().dropLast() }
        guard let name = names.last, name != "hub" else { return nil }
        let value = match[name.hasSuffix("...") ? String(name.dropLast(3)) : String(name)]
        // A long value is left out: it is probably a handle or a tag expression, and the audit log, which is kept for a
        // year, must not contain these.
        return value.utf8.count <= 128 ? value : nil
    }
}
