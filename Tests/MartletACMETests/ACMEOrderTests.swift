import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletACME

/// Each row: what the authority answers, and what is then done. Answers come in the order of the requests.
struct ACMEOrderTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var answers: [ACMEAnswer]
        var continued: String?
        var mayOrder = true
        var domains = ["push.example.org"]
        let actions: [String]
    }

    private static let host = "https://ca.example.org"
    private static let directory = json(
        #"{"newNonce":"\#(host)/nonce","newAccount":"\#(host)/account","newOrder":"\#(host)/orders"}"#, nonce: nil)
    private static let nonce = ACMEAnswer(200, nonce: "n0")
    private static let account = json("{}", 201, location: "\(host)/account/1")
    private static let start = ["GET /dir", "HEAD /nonce", "POST /account jwk n0"]

    private static func json(
        _ text: String, _ status: HTTPStatus = 200, nonce: String? = "n", location: String? = nil,
        retryAfter: Duration? = nil
    ) -> ACMEAnswer {
        ACMEAnswer(status, nonce: nonce, location: location, retryAfter: retryAfter, body: Array(text.utf8))
    }

    private static func problem(
        _ type: String, _ status: HTTPStatus = 400, detail: String = "No.", nonce: String? = "n",
        retryAfter: Duration? = nil
    ) -> ACMEAnswer {
        json(
            #"{"type":"urn:ietf:params:acme:error:\#(type)","detail":"\#(detail)"}"#, status, nonce: nonce,
            retryAfter: retryAfter)
    }

    private static func order(
        _ status: String, _ code: HTTPStatus = 200, authorizations: Int = 1, certificate: Bool = false,
        error: String? = nil, retryAfter: Duration? = nil
    ) -> ACMEAnswer {
        let list = (0..<authorizations).map { "\"\(host)/authorization/\($0)\"" }.joined(separator: ",")
        let more = certificate ? #","certificate":"\#(host)/certificate""# : ""
        let problem = error.map { #","error":{"detail":"\#($0)"}"# } ?? ""
        return json(
            #"{"status":"\#(status)","authorizations":[\#(list)],"finalize":"\#(host)/finalize"\#(more)\#(problem)}"#,
            code, location: "\(host)/orders/1", retryAfter: retryAfter)
    }

    private static func authorization(
        _ status: String, _ domain: String = "push.example.org", challenge: String = "pending",
        type: String = "tls-alpn-01", error: String = "", retryAfter: Duration? = nil
    ) -> ACMEAnswer {
        let error = error.isEmpty ? "" : #","error":{"detail":"\#(error)"}"#
        return json(
            #"""
            {"status":"\#(status)","identifier":{"type":"dns","value":"\#(domain)"},"challenges":[
            {"type":"http-01","url":"\#(host)/other","token":"o","status":"pending"},
            {"type":"\#(type)","url":"\#(host)/challenge/\#(domain)","token":"tok","status":"\#(challenge)"\#(error)}]}
            """#, retryAfter: retryAfter)
    }

    private static let certificate = json("PEM")
    private static let begun = start + ["count", "POST /orders kid n", "remember /orders/1"]

    static let rows: [Row] = [
        Row(
            testDescription: "an order from beginning to end",
            answers: [
                directory, nonce, account, order("pending", 201), authorization("pending"), json("{}"),
                authorization("pending", challenge: "processing", retryAfter: .seconds(5)), authorization("valid"),
                order("ready"), order("processing", retryAfter: .seconds(3)), order("valid", certificate: true),
                certificate,
            ],
            actions: begun + [
                "POST /authorization/0 kid n", "answer push.example.org tok",
                "POST /challenge/push.example.org kid n {}",
                "POST /authorization/0 kid n", "wait 5", "POST /authorization/0 kid n", "POST /orders/1 kid n",
                #"POST /finalize kid n {"csr":"AQID"}"#, "wait 3", "POST /orders/1 kid n", "POST /certificate kid n",
                "finish PEM",
            ]),
        Row(
            testDescription: "two names, one of them proven already",
            answers: [
                directory, nonce, account, order("pending", 201, authorizations: 2), authorization("valid"),
                authorization("pending", "api.example.org"), json("{}"), authorization("valid"),
                authorization("valid", "api.example.org"), order("ready"), order("valid", certificate: true),
                certificate,
            ],
            domains: ["push.example.org", "api.example.org"],
            actions: begun + [
                "POST /authorization/0 kid n", "POST /authorization/1 kid n", "answer api.example.org tok",
                "POST /challenge/api.example.org kid n {}", "POST /authorization/0 kid n",
                "POST /authorization/1 kid n", "POST /orders/1 kid n", #"POST /finalize kid n {"csr":"AQID"}"#,
                "POST /certificate kid n", "finish PEM",
            ]),
        Row(
            testDescription: "an order that needs no proof",
            answers: [
                directory, nonce, account, order("ready", 201), order("valid", certificate: true), certificate,
            ],
            actions: begun + [
                #"POST /finalize kid n {"csr":"AQID"}"#, "POST /certificate kid n", "finish PEM",
            ]),
        Row(
            testDescription: "a refused nonce is replaced by the one of the refusal",
            answers: [directory, nonce, problem("badNonce", nonce: "n1"), problem("badNonce", nonce: nil), nonce],
            actions: start + ["POST /account jwk n1", "HEAD /nonce", "POST /account jwk n0"]),
        Row(
            testDescription: "a nonce that is always refused",
            answers: [directory, nonce] + Array(repeating: problem("badNonce"), count: 31),
            actions: start + Array(repeating: "POST /account jwk n", count: 30) + ["fail the authority says: No. ends"]),
        Row(
            testDescription: "no nonce", answers: [directory, ACMEAnswer(200)],
            actions: ["GET /dir", "HEAD /nonce", "fail the authority gives no nonce"]),
        Row(
            testDescription: "a nonce with other characters", answers: [directory, ACMEAnswer(200, nonce: "n\" 0")],
            actions: ["GET /dir", "HEAD /nonce", "fail the authority gives no nonce"]),
        Row(
            testDescription: "a directory that is no JSON", answers: [json("<html>")],
            actions: ["GET /dir", "fail the authority's directory cannot be read"]),
        Row(
            testDescription: "a directory that leads to clear text",
            answers: [
                json(#"{"newNonce":"http://ca.example.org/n","newAccount":"https://a/","newOrder":"https://o/"}"#)
            ],
            actions: ["GET /dir", "fail the authority's directory cannot be read"]),
        Row(
            testDescription: "an authority for its customers only",
            answers: [
                json(
                    #"""
                    {"newNonce":"https://n/","newAccount":"https://a/","newOrder":"https://o/",
                    "meta":{"externalAccountRequired":true}}
                    """#)
            ],
            actions: [
                "GET /dir", "fail the authority only has accounts for its customers, which is not supported",
            ]),
        Row(
            testDescription: "a directory that is not to be had", answers: [ACMEAnswer(503, retryAfter: .seconds(120))],
            actions: ["GET /dir", "fail the authority answered 503 retry 120"]),
        Row(
            testDescription: "too many orders",
            answers: [directory, nonce, account, problem("rateLimited", 429, retryAfter: .seconds(9000))],
            actions: start + ["count", "POST /orders kid n", "fail the authority says: No. retry 9000"]),
        Row(
            testDescription: "no account's address", answers: [directory, nonce, json("{}", 201)],
            actions: start + ["fail the authority's account cannot be read"]),
        Row(
            testDescription: "a refused challenge",
            answers: [
                directory, nonce, account, order("pending", 201), authorization("pending"), json("{}"),
                authorization("invalid", challenge: "invalid", error: "Connection refused"),
            ],
            actions: begun + [
                "POST /authorization/0 kid n", "answer push.example.org tok",
                "POST /challenge/push.example.org kid n {}", "POST /authorization/0 kid n",
                "fail the authority says of push.example.org: Connection refused ends",
            ]),
        Row(
            testDescription: "no challenge of our kind",
            answers: [directory, nonce, account, order("pending", 201), authorization("pending", type: "dns-01")],
            actions: begun + [
                "POST /authorization/0 kid n",
                "fail the authority offers no tls-alpn-01 challenge for push.example.org ends",
            ]),
        Row(
            testDescription: "an authorization for another name",
            answers: [directory, nonce, account, order("pending", 201), authorization("pending", "bank.example")],
            actions: begun + ["POST /authorization/0 kid n", "fail the authority's authorization cannot be read"]),
        Row(
            testDescription: "more authorizations than names",
            answers: [directory, nonce, account, order("pending", 201, authorizations: 2)],
            actions: start + ["count", "POST /orders kid n", "fail the authority's order cannot be read"]),
        Row(
            testDescription: "an order that becomes invalid",
            answers: [directory, nonce, account, order("ready", 201), order("invalid", error: "Bad\\u001b[31m CSR")],
            actions: begun + [
                #"POST /finalize kid n {"csr":"AQID"}"#, "fail the authority says: Bad?[31m CSR ends",
            ]),
        Row(
            testDescription: "an authority that is busy while it is asked",
            answers: [
                directory, nonce, account, order("ready", 201), order("processing"), ACMEAnswer(503, nonce: "n"),
                order("valid", certificate: true), certificate,
            ],
            actions: begun + [
                #"POST /finalize kid n {"csr":"AQID"}"#, "wait 1", "POST /orders/1 kid n", "wait 1",
                "POST /orders/1 kid n", "POST /certificate kid n", "finish PEM",
            ]),
        Row(
            testDescription: "an authority that asks for a long wait keeps the order",
            answers: [directory, nonce, account, order("ready", 201), order("processing", retryAfter: .seconds(7200))],
            actions: begun + [
                #"POST /finalize kid n {"csr":"AQID"}"#,
                "fail the authority asks to be left alone for a while retry 7200",
            ]),
        Row(
            testDescription: "many waits of an attempt are no longer than one may be",
            answers: [directory, nonce, account, order("ready", 201)]
                + Array(repeating: order("processing", retryAfter: .seconds(1800)), count: 3),
            actions: begun + [
                #"POST /finalize kid n {"csr":"AQID"}"#, "wait 1800", "POST /orders/1 kid n", "wait 1800",
                "POST /orders/1 kid n", "fail the authority asks to be left alone for a while retry 1800",
            ]),
        Row(
            testDescription: "an order is continued where it stands",
            answers: [directory, nonce, account, order("valid", certificate: true), certificate],
            continued: "\(host)/orders/1", mayOrder: false,
            actions: start + ["POST /orders/1 kid n", "POST /certificate kid n", "finish PEM"]),
        Row(
            testDescription: "a challenge that is validated already is answered and not announced again",
            answers: [
                directory, nonce, account, order("pending"), authorization("pending", challenge: "processing"),
                authorization("valid"), order("ready"),
            ],
            continued: "\(host)/orders/1",
            actions: start + [
                "POST /orders/1 kid n", "POST /authorization/0 kid n", "answer push.example.org tok",
                "POST /authorization/0 kid n", "POST /orders/1 kid n", #"POST /finalize kid n {"csr":"AQID"}"#,
            ]),
        Row(
            testDescription: "a lost order begins anew",
            answers: [directory, nonce, account, problem("malformed", 404), order("ready", 201)],
            continued: "\(host)/orders/0",
            actions: start + [
                "POST /orders/0 kid n", "count", "POST /orders kid n", "remember /orders/1",
                #"POST /finalize kid n {"csr":"AQID"}"#,
            ]),
        Row(
            testDescription: "an invalid order begins anew",
            answers: [directory, nonce, account, order("invalid")], continued: "\(host)/orders/0",
            actions: start + ["POST /orders/0 kid n", "count", "POST /orders kid n"]),
        Row(
            testDescription: "a lost order does not begin anew where no more may be made",
            answers: [directory, nonce, account, problem("malformed", 404)], continued: "\(host)/orders/0",
            mayOrder: false,
            actions: start + [
                "POST /orders/0 kid n", "fail the order cannot be continued, and no more may be made today ends",
            ]),
        Row(
            testDescription: "a valid order without a certificate",
            answers: [directory, nonce, account, order("valid", 201)],
            actions: begun + ["fail the authority's order cannot be read"]),
    ]

    @Test(arguments: rows)
    func answersBecomeRequests(_ row: Row) throws {
        let settings = ACMEOrder.Settings(
            directory: try #require(ACMEURL("\(Self.host)/dir")), domains: row.domains,
            contact: "mailto:ops@example.org", request: [1, 2, 3])
        var order = ACMEOrder(
            settings, continuing: row.continued.flatMap(ACMEURL.init), mayOrder: row.mayOrder)
        var answers = row.answers
        var queue = order.begin()
        var seen: [String] = []
        while !queue.isEmpty {
            let action = queue.removeFirst()
            seen.append(Self.text(action))
            if case .wait = action { queue += order.waited() }
            guard case .send = action else { continue }
            guard !answers.isEmpty else { break }
            queue += order.received(answers.removeFirst())
        }
        #expect(seen == row.actions)
        #expect(answers.isEmpty)
    }

    @Test func anAuthorityThatNeverEndsIsGivenUp() throws {
        let settings = ACMEOrder.Settings(
            directory: try #require(ACMEURL("\(Self.host)/dir")), domains: ["push.example.org"], request: [])
        var order = ACMEOrder(settings)
        _ = order.begin()
        for answer in [Self.directory, Self.nonce, Self.account] { _ = order.received(answer) }
        var actions = order.received(Self.order("processing", 201))
        var waits = 0
        while let last = actions.last, case .wait = last, waits < 1000 {
            waits += 1
            _ = order.waited()
            actions = order.received(Self.order("processing"))
        }
        #expect(waits == 60)
        #expect(actions == [.fail(ACMEFailure("the authority does not come to an end"))])
    }

    @Test func anAccountIsMadeWithTermsAndContact() throws {
        let settings = ACMEOrder.Settings(
            directory: try #require(ACMEURL("\(Self.host)/dir")), domains: ["push.example.org"],
            contact: "mailto:ops@example.org", request: [])
        var order = ACMEOrder(settings)
        _ = order.begin()
        _ = order.received(Self.directory)
        guard case .send(let request)? = order.received(Self.nonce).first,
            case .post(let payload, _, nil) = request.content
        else {
            Issue.record("no request for an account")
            return
        }
        #expect(
            try JSON(parsing: payload)
                == ["termsOfServiceAgreed": true, "contact": ["mailto:ops@example.org"]])
    }

    private static func text(_ action: ACMEOrder.Action) -> String {
        switch action {
        case .send(let request): text(request)
        case .wait(let duration): "wait \(duration.components.seconds)"
        case .countOrder: "count"
        case .remember(let url): "remember \(url.target)"
        case .answer(let challenges):
            "answer " + challenges.map { "\($0.domain) \($0.token)" }.joined(separator: " ")
        case .finish(let chain): "finish \(chain)"
        case .fail(let failure):
            "fail \(failure.reason)" + (failure.endsOrder ? " ends" : "")
                + (failure.retryAfter.map { " retry \($0.components.seconds)" } ?? "")
        }
    }

    private static func text(_ request: ACMERequest) -> String {
        switch request.content {
        case .get: return "GET \(request.url.target)"
        case .head: return "HEAD \(request.url.target)"
        case .post(let payload, let nonce, let account):
            let isShown = ["/finalize", "/challenge"].contains { request.url.target.hasPrefix($0) }
            let body = isShown ? " " + String(decoding: payload, as: UTF8.self) : ""
            return "POST \(request.url.target) \(account == nil ? "jwk" : "kid") \(nonce)\(body)"
        }
    }
}
