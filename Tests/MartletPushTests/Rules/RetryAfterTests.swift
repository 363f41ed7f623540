import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct RetryAfterTests {
    /// Tue, 14 Nov 2023 22:13:20 GMT.
    private let now = Timestamp(seconds: 1_700_000_000)

    @Test(
        arguments: [
            ("0", 0), ("7", 7), ("3600", 3600), ("Tue, 14 Nov 2023 22:13:50 GMT", 30),
            ("Tuesday, 14-Nov-23 22:13:50 GMT", 30), ("Tue Nov 14 22:13:50 2023", 30),
            ("Fri Dec  1 22:13:20 2023", 17 * 86_400), ("Sunday, 06-Nov-94 08:49:37 GMT", 0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("99999999999999999999999", 28 * 86_400),
            ("Tue, 14 Nov 2090 22:13:50 GMT", 28 * 86_400),
        ] as [(String, Int64)])
    func eachFormIsObeyed(text: String, seconds: Int64) {
        #expect(RetryAfter.wait(["retry-after": text], at: now) == .seconds(seconds))
    }

    @Test(arguments: [
        "", "soon", "-1", "+1", "1.5", "١", "14 Nov 2023 22:13:50 GMT", "Tue, 14 Nov 2023 22:13:50 CET",
        "Tue, 99 Nov 2023 22:13:50 GMT", "Tue, 14 Foo 2023 22:13:50 GMT", "Tuesday, 14-Nov-2023 22:13:50 GMT",
        "Tue Nov 14 22:13 2023",
    ])
    func unreadableDataIsNil(text: String) {
        #expect(RetryAfter.wait(["retry-after": text], at: now) == nil)
    }

    /// What a service answers that asks for an hour, in either form.
    private static let fields: [HTTPFields] = [
        ["retry-after": "3600"], ["retry-after": "Tue, 14 Nov 2023 23:13:20 GMT"],
    ]

    @Test(arguments: [429, 500, 503, 502], fields)
    func everyServiceIsLeftAloneForAsLongAsItAsks(status: Int, fields: HTTPFields) throws {
        let response = HTTPResponse(HTTPStatus(status), fields: fields)
        let services: [any PushService] = [
            try APNsFixture.service(), try FCMFixture().service, try WNSFixture.service(), try MPNSFixture().service,
            try WebPushFixture.serviceForAll(), try ADMFixture.service(),
        ]
        for service in services {
            guard case .retry(let wait, _) = service.outcome(of: response, at: now).reaction else {
                Issue.record("\(type(of: service)) does not try \(status) again")
                continue
            }
            #expect(wait >= .seconds(3600), "\(type(of: service)) after \(status)")
        }
    }

    @Test(arguments: [429, 500, 503], fields)
    func everyTokenEndpointIsLeftAloneForAsLongAsItAsks(status: Int, fields: HTTPFields) {
        let answer = OAuthToken.answer(HTTPResponse(HTTPStatus(status), fields: fields), at: now)
        guard case .refused(let outcome) = answer else {
            Issue.record("this is no token")
            return
        }
        #expect(outcome.reaction == .retry(after: .seconds(3600), scope: .platform))
    }
}
