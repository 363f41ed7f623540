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

    private static let toast = #"<wp:Notification xmlns:wp="WPNotification"><wp:Toast/></wp:Notification>"#
    private static let tile =
        #"<?xml version="1.0"?><!-- > --><wp:Notification a=">" b='"'> <?x?> <wp:Tile Id="1">"#

    @Test(
        "Trap 33: a notification without target and class has those of its body",
        arguments: [
            (toast, nil, nil, "toast", "2"), (tile, nil, nil, "token", "1"), ("<wp:Toast/>", nil, nil, "toast", "2"),
            ("hello", nil, nil, nil, "3"), ("<Notification/>", "", "", nil, "3"), (toast, "tile", nil, "token", "1"),
            (toast, nil, "12", "toast", "12"), (toast, nil, "21", "token", "21"), (toast, nil, "3", nil, "3"),
            (toast, "raw", nil, nil, "3"), (tile, "token", "11", "token", "11"), ("hello", "toast", "2", "toast", "2"),
            (toast, "what", nil, "toast", "2"), (toast, nil, "x", "toast", "x"),
        ] as [(String, String?, String?, String?, String?)])
    func aNotificationTellsItsKind(
        body: String, target: String?, number: String?, wantedTarget: String?, wantedClass: String?
    ) {
        var message = Message(body: Array(body.utf8))
        message.fields["x-windowsphone-target"] = target
        message.fields["x-notificationclass"] = number
        for _ in 1...2 {
            message = MPNS.normalized(message, at: Timestamp(seconds: 0))
            #expect(message.fields["x-windowsphone-target"] == wantedTarget)
            #expect(message.fields["x-notificationclass"] == wantedClass)
        }
    }
}
