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

    /// Whether the route may create a notification, which is sent now or at a later time.
    private var isSend: Bool {
        method != .delete && (pattern == "/rest/{hub}/messages" || pattern.hasPrefix("/rest/{hub}/schedulednotif"))
    }

    /// Returns whether a request is recorded in the audit log.
    ///
    /// A dry run is not recorded: it changes nothing, and pages request a dry run at every pause in typing.
    func isRecorded(_ call: ConsoleCall) -> Bool {
        isAudited && !TrialSend.isDryRun(call.match.target, on: name)
    }

    /// Returns the name of a request in the audit log: the route's name, followed by `?test` for a test send.
    func action(of call: ConsoleCall) -> String { isTest(call) ? "\(name)?test" : name }

    private func isTest(_ call: ConsoleCall) -> Bool { TrialSend.isTest(call.request, call.match.target, on: name) }

    /// Returns the id of the notification that a request has made, for the audit log; nil if it has made none.
    func made(by response: HTTPResponse) -> String? { isSend ? AuditSubject.made(by: response) : nil }

    /// Returns the subject of a request for the audit log, which records the hub separately.
    func subject(of call: ConsoleCall) -> String? {
        guard !isTest(call) else { return AuditSubject.ofTest(call.request, call.match.target) }
        return AuditSubject.subject(pattern, body: call.request.body) { call.match[$0] }
    }
}
