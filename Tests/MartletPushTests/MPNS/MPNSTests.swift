import MartletCore
import MartletModel
import Testing

@testable import MartletPush

struct MPNSTests {
    private func template(_ headers: (String, String)...) -> Template {
        Template(body: "<n/>", headers: headers.map { Template.Header(name: $0.0, value: $0.1) })
    }

    @Test func channelURIsMayBeInTheClear() throws {
        let key = try MPNS.key(of: PushHandle("http://SN1.notify.live.net/throttledthirdparty/01.00/AbC"))
        #expect(key == "http://sn1.notify.live.net/throttledthirdparty/01.00/AbC")
        #expect(throws: PushServiceError.self) { try MPNS.key(of: PushHandle("ftp://a/")) }
    }

    @Test func aTemplateNeedsAClass() throws {
        #expect(throws: PushServiceError.self) { try MPNS.checked(template(("X-WindowsPhone-Target", "toast"))) }
        #expect(throws: PushServiceError.self) { try MPNS.checked(template(("X-NotificationClass", "99"))) }
        let toast = template(("X-NotificationClass", "2"), ("X-WindowsPhone-Target", "toast"))
        #expect(try MPNS.checked(toast) == toast)
        #expect(MPNS.format(of: toast) == .xml)
        #expect(MPNS.format(of: template(("X-NotificationClass", "13"))) == .text)
    }
}
