import Testing

@testable import MartletClient

struct PushContentTests {
    @Test func whatPushesOfApplesServiceBring() {
        #expect(
            PushContent(userInfo: ["aps": ["alert": "From bob: hi"], "notificationId": "n"])
                == .text(TextNotification(title: nil, text: "From bob: hi", id: "n")))
        #expect(
            PushContent(userInfo: ["aps": ["alert": ["title": "T", "body": "B"]]])
                == .text(TextNotification(title: "T", text: "B", id: nil)))
        let rich: [String: Any] = [
            "aps": ["content-available": 1, "sound": ""], "richId": "7", "richMessage": "look", "richType": "img",
        ]
        #expect(PushContent(userInfo: rich) == .rich(RichReference(id: 7, message: "look", type: "img")))
        #expect(
            PushContent(userInfo: ["aps": ["content-available": 1], "secureId": "8"])
                == .secure(SecureReference(id: 8, message: nil)))
        #expect(PushContent(userInfo: ["secureId": 8]) == .secure(SecureReference(id: 8)))
        #expect(
            PushContent(userInfo: ["aps": ["alert": "secret", "mutable-content": 1], "encrypted": "AAAA"])
                == .encrypted(EncryptedReference(push: .content("AAAA"), message: "secret", notificationID: nil)))
        #expect(
            PushContent(userInfo: ["aps": ["alert": "secret"], "encryptedId": "9"])
                == .encrypted(EncryptedReference(push: .stored(id: 9), message: "secret", notificationID: nil)))
    }

    @Test func whatDataMessagesBring() {
        #expect(PushContent(data: ["message": "hi"]) == .text(TextNotification(title: nil, text: "hi", id: nil)))
        #expect(
            PushContent(data: ["secureId": "8", "secureMessage": "m"]) == .secure(SecureReference(id: 8, message: "m")))
    }

    @Test func whatBodiesBring() {
        func content(_ text: String) -> PushContent { PushContent(payload: Array(text.utf8)) }
        let rich = PushContent.rich(RichReference(id: 7, message: "look", type: "img"))
        #expect(content(#"{"richId":"7","richMessage":"look","richType":"img"}"#) == rich)
        #expect(content(#"{"data":{"richId":"7","richMessage":"look","richType":"img"}}"#) == rich)
        #expect(content(#"{"message":{"data":{"richId":"7","richMessage":"look","richType":"img"}}}"#) == rich)
        #expect(content(#"{"aps":{},"richId":7,"richMessage":"look","richType":"img"}"#) == rich)
        #expect(content("8") == .secure(SecureReference(id: 8)))
        #expect(content(#"{"message":"hi"}"#) == .text(TextNotification(title: nil, text: "hi", id: nil)))
    }

    @Test func whatMicrosoftsServicesBring() {
        func content(_ text: String) -> PushContent { PushContent(payload: Array(text.utf8)) }
        func toast(_ launch: String) -> PushContent {
            content(
                "<toast\(launch)><visual><binding template=\"ToastText01\"><text id=\"1\">From bob: 1 &lt; 2 &amp;amp;</text>"
                    + "</binding></visual></toast>")
        }
        let text = "From bob: 1 < 2 &amp;"
        #expect(
            toast(" launch=\"notificationId=n-1\"") == .text(TextNotification(title: nil, text: text, id: "n-1")))
        #expect(toast("") == .text(TextNotification(title: nil, text: text, id: nil)))
        let phone = content(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><wp:Notification xmlns:wp=\"WPNotification\"><wp:Toast>"
                + "<wp:Text1>From bob: hi</wp:Text1><wp:Param>/?notificationId=n-2</wp:Param></wp:Toast>"
                + "</wp:Notification>")
        #expect(phone == .text(TextNotification(title: nil, text: "From bob: hi", id: "n-2")))
        #expect(content("<toast><text id=\"1\">never ends") == .other)
        #expect(content("<tile><text id=\"1\">hi</text></tile>") == .other)
    }

    @Test(
        "A composed message is read on every platform, with its title and its id",
        arguments: [
            #"{"aps":{"alert":{"title":"T","body":"B"}},"link":"https://a.example","notificationId":"n"}"#,
            #"{"message":{"notification":{"title":"T","body":"B"},"data":{"notificationId":"n"}}}"#,
            #"{"notification":{"title":"T","body":"B"},"data":{"notificationId":"n","link":"https://a.example"}}"#,
            #"{"title":"T","body":"B","notificationId":"n","data":{"link":"https://a.example"}}"#,
            #"{"data":{"title":"T","message":"B","notificationId":"n"}}"#,
            "<toast launch=\"notificationId=n&amp;link=x\"><visual><binding template=\"ToastGeneric\"><text>T</text>"
                + "<text>S</text><text>B</text></binding></visual></toast>",
            "<wp:Notification xmlns:wp=\"WPNotification\"><wp:Toast><wp:Text1>T</wp:Text1><wp:Text2>B</wp:Text2>"
                + "<wp:Param>/?notificationId=n&amp;link=x</wp:Param></wp:Toast></wp:Notification>",
        ])
    func whatComposedMessagesBring(payload: String) {
        #expect(
            PushContent(payload: Array(payload.utf8)) == .text(TextNotification(title: "T", text: "B", id: "n")))
    }

    @Test func idsThatCannotBeAreNone() {
        for id in ["0", "-1", "2147483648", "", "7 ", "1e3", "../7"] {
            #expect(PushContent(userInfo: ["richId": id, "secureId": id, "encryptedId": id]) == .other)
        }
        #expect(PushContent(payload: Array("0".utf8)) == .other)
        #expect(PushContent(payload: Array("<toast/>".utf8)) == .other)
        #expect(PushContent(userInfo: ["aps": ["badge": 3]]) == .other)
    }

    @Test func shownContentCanBeReadAgain() {
        let pushes: [PushContent] = [
            .rich(RichReference(id: 7, message: "look", type: "img")), .secure(SecureReference(id: 8, message: "m")),
            .secure(SecureReference(id: 8)),
            .encrypted(EncryptedReference(push: .stored(id: 9), message: nil, notificationID: "n")),
        ]
        for push in pushes { #expect(PushContent(data: push.texts) == push) }
    }
}
