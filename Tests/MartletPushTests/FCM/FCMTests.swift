import MartletCore
import MartletModel
import Testing

@testable import MartletPush

struct FCMTests {
    private func message(_ body: String) -> Message { Message(body: Array(body.utf8)) }

    @Test func tokensAreComparedAsTheyAre() throws {
        #expect(try FCM.key(of: PushHandle("aB:c-_1")) == "aB:c-_1")
        #expect(try LegacyFCM.key(of: PushHandle("aB:c-_1")) == "aB:c-_1")
        #expect(throws: PushServiceError.self) { try FCM.key(of: PushHandle("a", "b")) }
        #expect(throws: PushServiceError.self) { try FCM.key(of: PushHandle(String(repeating: "a", count: 4097))) }
    }

    @Test(arguments: [
        #"{"message":{"data":{"m":"hi"}}}"#, #"{"data":{"m":"hi"}}"#, #"{"message":{"notification":{"title":"t"}}}"#,
        #"{"message":{"android":{"data":{"m":"hi"},"ttl":"2419200s"}}}"#, #"{"message":{"android":{"ttl":"3.5s"}}}"#,
    ])
    func aMessageMayStandInItsEnvelopeOrWithout(body: String) {
        #expect(throws: Never.self) { try FCM.check(message(body)) }
    }

    @Test(arguments: [
        "hello", "[]", #"{"message":"hi"}"#, #"{"message":{"data":{"n":3}}}"#, #"{"message":{"android":{"data":[]}}}"#,
        #"{"message":{"notification":"hi"}}"#, #"{"message":{"android":3}}"#, #"{"message":{"apns":"x"}}"#,
        #"{"message":{"data":{"from":"me"}}}"#, #"{"message":{"data":{"google.x":"y"}}}"#,
        #"{"message":{"android":{"data":{"gcm.n":"y"}}}}"#, #"{"message":{"data":{"message_type":"y"}}}"#,
        #"{"message":{"android":{"ttl":"2419201s"}}}"#, #"{"message":{"android":{"ttl":"-1s"}}}"#,
        #"{"message":{"android":{"ttl":"60"}}}"#,
    ])
    func payloadsThatTheServiceWouldRefuseAreRefused(body: String) throws {
        let error = try #require(throws: PushServiceError.self) { try FCM.check(message(body)) }
        #expect(error.kind == .badMessage)
    }

    @Test func dataAndNotificationTogetherHaveALimit() throws {
        let room = String(repeating: "x", count: 4096 - "data".utf8.count - "title".utf8.count)
        func body(_ text: String) -> Message {
            message(#"{"message":{"data":{"data":"\#(text)"},"notification":{"title":""}}}"#)
        }
        #expect(throws: Never.self) { try FCM.check(body(room)) }
        let error = #expect(throws: PushServiceError.self) { try FCM.check(body(room + "x")) }
        #expect(error?.kind == .messageTooLarge)
    }

    @Test func oldPayloadsMayHaveValuesOfAnyType() {
        #expect(throws: Never.self) { try LegacyFCM.check(message(#"{"data":{"n":3,"o":{}},"priority":"high"}"#)) }
        #expect(throws: PushServiceError.self) { try LegacyFCM.check(message(#"{"data":"x"}"#)) }
    }

    @Test(
        "Trap 41: a message without its envelope gets it",
        arguments: [
            (#"{"data":{"m":"hi"}}"#, #"{"message":{"data":{"m":"hi"}}}"#), (" {} ", #"{"message":{}}"#),
            (#"{"message":{"data":{}}}"#, #"{"message":{"data":{}}}"#), ("hello", "hello"),
            (#"{"message": "x"}"#, #"{"message": "x"}"#),
        ])
    func aMessageGetsItsEnvelope(sent: String, forwarded: String) {
        let normalized = FCM.normalized(message(sent), at: Timestamp(seconds: 0))
        #expect(String(decoding: normalized.body, as: UTF8.self) == forwarded)
        #expect(FCM.normalized(normalized, at: Timestamp(seconds: 0)).body == normalized.body)
    }

    @Test func theHubDecidesTheTargetOfAMessage() {
        let sent = message(
            #"{"validate_only":true,"message":{"token":"a","topic":"b","condition":"c","name":"d","data":{}}}"#)
        let normalized = FCM.normalized(sent, at: Timestamp(seconds: 0))
        #expect(
            String(decoding: normalized.body, as: UTF8.self) == #"{"message":{"data":{}},"validate_only":true}"#)
        #expect(FCM.dropped(from: sent) == ["condition", "name", "token", "topic"])
        #expect(FCM.dropped(from: normalized).isEmpty)
        #expect(FCM.dropped(from: message("hello")).isEmpty)
    }
}
