import MartletModel
import MartletPush
import Testing

struct HandleMarkerTests {
    @Test(arguments: [
        ("abc~unregistered", HandleMarker.unregistered), ("abc~unknown", .unknown), ("abc~throttle3", .throttle(3)),
        ("abc~error", .error), ("a~b~unavailable", .unavailable), ("~slow5000", .slow(5000)), ("abc~reset", .reset),
    ])
    func aHandleAsksForAFaultBehindItsLastTilde(handle: String, marker: HandleMarker) {
        #expect(HandleMarker(endOf: handle) == marker)
    }

    @Test(arguments: ["", "abc", "unregistered", "abc~", "abc~slow", "abc~slow60001", "abc~throttle-1", "abc~reset~x"])
    func anythingElseIsJustAHandle(handle: String) {
        #expect(HandleMarker(endOf: handle) == nil)
    }

    @Test func retryAfterHasTwoForms() {
        let now = Timestamp(seconds: 784_111_777)
        #expect(RetryAfterField.seconds(120).value(at: now) == "120")
        #expect(RetryAfterField.date(0).value(at: now) == "Sun, 06 Nov 1994 08:49:37 GMT")
    }
}
