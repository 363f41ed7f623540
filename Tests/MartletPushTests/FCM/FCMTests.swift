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
        #"{"message":{"android":{"data":{"m":"hi"}}}}"#,
    ])
    func aMessageMayStandInItsEnvelopeOrWithout(body: String) {
        #expect(throws: Never.self) { try FCM.check(message(body)) }
    }

    @Test(arguments: [
        "hello", "[]", #"{"message":"hi"}"#, #"{"message":{"data":{"n":3}}}"#, #"{"message":{"android":{"data":[]}}}"#,
    ])
    func whatTheServiceWouldRefuseIsRefused(body: String) throws {
        let error = try #require(throws: PushServiceError.self) { try FCM.check(message(body)) }
        #expect(error.kind == .badMessage)
    }

    @Test func oldPayloadsMayHaveValuesOfAnyType() {
        #expect(throws: Never.self) { try LegacyFCM.check(message(#"{"data":{"n":3,"o":{}},"priority":"high"}"#)) }
        #expect(throws: PushServiceError.self) { try LegacyFCM.check(message(#"{"data":"x"}"#)) }
    }

    @Test(
        "Trap 41: a message without its envelope gets it",
        arguments: [
            (#"{"data":{"m":"hi"}}"#, #"{"message":{"data":{"m":"hi"}}}"#), (" {} ", #"{"message": {} }"#),
            (#"{"message":{"data":{}}}"#, #"{"message":{"data":{}}}"#), ("hello", "hello"),
        ])
    func aMessageGetsItsEnvelope(sent: String, forwarded: String) {
        let normalized = FCM.normalized(message(sent), at: Timestamp(seconds: 0))
        #expect(String(decoding: normalized.body, as: UTF8.self) == forwarded)
        #expect(FCM.normalized(normalized, at: Timestamp(seconds: 0)).body == normalized.body)
    }
}
