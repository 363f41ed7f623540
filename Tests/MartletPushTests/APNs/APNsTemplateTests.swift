import MartletCore
import MartletModel
import Testing

@testable import MartletPush

struct APNsTemplateTests {
    private func template(_ options: [String: String]) -> Template { Template(body: "{}", options: options) }

    @Test(arguments: ["$(exp)", "0", "2026-01-01T00:00:00Z", "11/22/2026 08:22:54"])
    func anExpiryIsADateOrZeroOrAnExpression(expiry: String) {
        #expect(throws: Never.self) { try APNs.checked(template(["Expiry": expiry])) }
    }

    @Test func invalidExpiriesAndPrioritiesAreRefused() {
        #expect(throws: PushServiceError.self) { try APNs.checked(template(["Expiry": "soon"])) }
        #expect(throws: PushServiceError.self) { try APNs.checked(template(["Priority": "256"])) }
        #expect(throws: PushServiceError.self) { try APNs.checked(template(["Priority": "high"])) }
        #expect(throws: Never.self) { try APNs.checked(template(["Priority": "10"])) }
    }
}
