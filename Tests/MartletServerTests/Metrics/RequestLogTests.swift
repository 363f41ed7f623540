import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletServer

struct RequestLogTests {
    private func fields(_ request: HTTPRequest, area: RequestCount.Area = .hub) -> [String: JSON] {
        RequestLog.fields(
            request, HTTPResponse(.created), id: "7", route: "/{hub}/messages", area: area, took: .milliseconds(3))
    }

    @Test func aLineHasTheTemplateOfTheRouteAndNeverThePath() {
        let request = HTTPRequest(.post, "/demo/messages?handle=secret", fields: ["x-handle": "secret"])
        let fields = fields(request)
        #expect(
            fields == [
                "id": "7", "client": "", "area": "hub", "method": "POST", "route": "/{hub}/messages", "status": 201,
                "ms": .double(3), "in": 0, "out": 0, "hub": "demo",
            ])
    }

    @Test(arguments: ["/%22x/messages", "/" + String(repeating: "a", count: 300) + "/messages"])
    func invalidHubsAreNotWritten(target: String) {
        #expect(fields(HTTPRequest(.post, target))["hub"] == nil)
    }

    @Test func aTraceOfTheCallersIsKeptAndNothingElseThatItCallsOne() {
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        #expect(fields(HTTPRequest(.get, "/", fields: ["traceparent": trace]))["trace"] == .string(trace))
        #expect(fields(HTTPRequest(.get, "/", fields: ["traceparent": "secret"]))["trace"] == nil)
    }

    @Test func changesAreLoggedWithTheUserIDOfTheProcess() {
        let connection = HTTPConnection(id: 1, peer: "", isSecure: false, user: 1000)
        #expect(fields(HTTPRequest(.post, "/hubs", connection: connection), area: .admin)["uid"] == 1000)
        #expect(fields(HTTPRequest(.post, "/hubs"), area: .admin)["uid"] == nil)
    }

    @Test func everyAnswerIsNamedByTheIDThatTheHubGaveOrByANewOne() async {
        let log = RequestLog(.off, log: Log(), time: ManualTimeSource())
        for (fields, expected) in [(["trackingid": "mine"], "mine"), ([:] as HTTPFields, nil as String?)] {
            let handler = ClosureHandler { _ in HTTPResponse(.ok, fields: fields) }
            let answer = await log.logging(handler, .hub).respond(to: HTTPRequest(.get, "/"))
            let id = answer.fields["request-id"]
            #expect(expected == nil ? id?.count == 32 : id == expected)
        }
    }

    @Test func errorsAreThoseOfTheServerAndRefusalsForNumber() {
        #expect([200, 404, 429, 500, 507].map(AccessLog.errors.includes) == [false, false, true, true, true])
        #expect(!AccessLog.off.includes(status: 500))
        #expect(AccessLog.all.includes(status: 200))
    }
}

private struct ClosureHandler: HTTPHandler {
    let answer: @Sendable (HTTPRequest) async -> HTTPResponse

    func route(for head: HTTPRequest) -> HTTPRoute { HTTPRoute(ignoringBody: answer) }
}
