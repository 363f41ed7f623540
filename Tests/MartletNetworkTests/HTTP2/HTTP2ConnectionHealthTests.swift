import Testing

@testable import MartletNetwork

@Suite struct HTTP2ConnectionHealthTests {
    @Test func threeUnansweredRequestsAreTooMany() {
        var status = HTTP2ConnectionHealth()
        for expected in [false, false, true] {
            status.timedOut(after: .seconds(30))
            #expect(status.isBad == expected)
        }
    }

    @Test func oneUnansweredRequestIsTooManyOnceACredentialWasRefused() {
        var status = HTTP2ConnectionHealth()
        status.answered(with: 403)
        #expect(!status.isBad)
        status.timedOut(after: .seconds(30))
        #expect(status.isBad)
    }

    @Test func requestsSentShortlyBeforeTheDeadlineDoNotCount() {
        var status = HTTP2ConnectionHealth()
        for _ in 0..<10 { status.timedOut(after: .milliseconds(4999)) }
        #expect(!status.isBad)
    }

    @Test func aThousandAnswersMakeUpForOneThatStayedAway() {
        var status = HTTP2ConnectionHealth()
        status.answered(5000)
        status.timedOut(after: .seconds(30))
        status.timedOut(after: .seconds(30))
        status.answered(600)
        status.answered(400)
        status.timedOut(after: .seconds(30))
        #expect(!status.isBad)
        status.timedOut(after: .seconds(30))
        #expect(status.isBad)
    }
}
