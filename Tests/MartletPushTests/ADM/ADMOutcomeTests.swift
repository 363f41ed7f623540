import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletPush

struct ADMOutcomeTests {
    private func outcome(_ status: Int, _ body: String = "", _ fields: HTTPFields = [:]) throws -> Outcome {
        try ADMFixture.service().outcome(
            of: HTTPResponse(HTTPStatus(status), fields: fields, body: .bytes(Array(body.utf8))), at: ADMFixture.now)
    }

    @Test func successNamesTheRegistrationIDFromThenOn() throws {
        #expect(
            try outcome(200, #"{"registrationID":"new","requestID":"1"}"#)
                == Outcome(.success, .update(PushHandle("new"))))
        #expect(try outcome(200, #"{"requestID":"1"}"#) == .accepted)
    }

    /// Texts near the answer to a push to `id`.
    private func answer(to id: String, _ chance: inout SeededGenerator) -> String {
        var text = #"{"registrationID":"\#(id)"}"#
        let sign = { (chance: inout SeededGenerator) in
            Array(#"abcXYZ019+/=-_.~%2B"\{}[]:, "#)[Int(chance.next() % 28)]
        }
        for _ in 0..<chance.next() % 3 {
            let index = text.index(text.startIndex, offsetBy: Int(chance.next() % UInt64(text.count)))
            switch chance.next() % 3 {
            case 0: text.remove(at: index)
            case 1: text.insert(sign(&chance), at: index)
            default: text.replaceSubrange(index...index, with: String(sign(&chance)))
            }
        }
        return text
    }

    @Test(arguments: 0..<50) func anAnswerIsPlainOnlyIfItLeavesTheHandleAsItIs(_ seed: Int) throws {
        var chance = SeededGenerator(seed: UInt64(seed))
        let service = try ADMFixture.service()
        let id = (0..<1 + chance.next() % 40).map { _ in String(Array("abcXYZ019+/=-_.~%&")[Int(chance.next() % 18)]) }
            .joined()
        let message = Message(body: [])
        var batch = RequestBatch(service.shared(message, token: nil, expiry: ADMFixture.now, at: ADMFixture.now))
        Array(id.utf8).withUnsafeBufferPointer {
            service.append($0, id: MessageID(high: 1, low: 2), message: message, to: &batch)
        }
        let isPlain = { [batch] (text: String) in
            Array(text.utf8).withUnsafeBytes { batch.shared.plainSuccess.covers(.ok, $0, of: 0, in: batch) }
        }
        #expect(isPlain(#"{"registrationID":"\#(id)"}"#))
        for _ in 0..<500 {
            let text = answer(to: id, &chance)
            guard isPlain(text) else { continue }
            #expect(try outcome(200, text) == Outcome(.success, .update(PushHandle(id))), "\(text)")
        }
    }

    @Test func anAnswerThatIsNotTheServicesIsTriedAgain() throws {
        for (status, body) in [(200, "<html>"), (200, ""), (204, "")] {
            let outcome = try outcome(status, body)
            #expect(outcome.name == .pnsInterfaceError)
            #expect(outcome.reaction == .retry(after: .seconds(60), scope: .device))
        }
    }

    @Test(arguments: [
        (400, "InvalidRegistrationId", OutcomeName.badChannel, Reaction.drop(asOf: ADMFixture.now, guarded: true)),
        (400, "Unregistered", .expiredChannel, .drop(asOf: ADMFixture.now, guarded: false)),
        (400, "InvalidData", .invalidNotificationFormat, .refuseAll),
        (400, "InvalidConsolidationKey", .invalidNotificationFormat, .refuseAll),
        (400, "InvalidExpiration", .invalidNotificationFormat, .refuseAll),
        (400, "InvalidType", .invalidNotificationFormat, .refuseAll),
        (400, "InvalidChecksum", .invalidNotificationFormat, .refuse),
        (400, "NothingYouKnow", .pnsInterfaceError, .refuse), (400, "", .pnsInterfaceError, .refuse),
        (401, "AccessTokenExpired", .invalidCredentials, .reauthorize), (401, "", .invalidCredentials, .reauthorize),
        (404, "", .badChannel, .drop(asOf: ADMFixture.now, guarded: true)),
        (413, "MessageTooLarge", .invalidNotificationSize, .refuseAll),
        (429, "MaxRateExceeded", .throttled, .retry(after: .seconds(60), scope: .platform)),
        (302, "", .pnsInterfaceError, .refuse),
        (500, "", .pnsServerError, .retry(after: .seconds(60), scope: .device)),
        (503, "", .pnsUnavailable, .retry(after: .seconds(60), scope: .device)),
    ])
    func everyAnswerHasItsReaction(status: Int, reason: String, name: OutcomeName, reaction: Reaction) throws {
        let expected = Outcome(name, reason: reason.isEmpty ? "status \(status)" : reason, reaction)
        #expect(try outcome(status, reason.isEmpty ? "" : #"{"reason":"\#(reason)"}"#) == expected)
    }

    @Test(arguments: [429, 500, 503]) func everythingWaitsAsLongAsTheServiceSays(status: Int) throws {
        for text in ["120", "Tue, 14 Nov 2023 22:15:20 GMT"] {
            #expect(
                try outcome(status, "", ["retry-after": text]).reaction
                    == .retry(after: .seconds(120), scope: .platform))
        }
    }
}
