import Testing

@testable import MartletNetwork

@Suite struct HTTP2StandingTests {
    @Test func threeUnansweredRequestsAreTooMany() {
        var standing = HTTP2Standing()
        for expected in [false, false, true] {
            standing.timedOut(after: .seconds(30))
            #expect(standing.isBad == expected)
        }
    }

    @Test func oneIsTooManyOnceACredentialWasRefused() {
        var standing = HTTP2Standing()
        standing.answered(with: 403)
        #expect(!standing.isBad)
        standing.timedOut(after: .seconds(30))
        #expect(standing.isBad)
    }

    @Test func whatWasSentAMomentBeforeItsTimeWasUpDoesNotCount() {
        var standing = HTTP2Standing()
        for _ in 0..<10 { standing.timedOut(after: .milliseconds(4999)) }
        #expect(!standing.isBad)
    }

    @Test func aThousandAnswersMakeUpForOneThatStayedAway() {
        var standing = HTTP2Standing()
        standing.answered(5000)
        standing.timedOut(after: .seconds(30))
        standing.timedOut(after: .seconds(30))
        standing.answered(600)
        standing.answered(400)
        standing.timedOut(after: .seconds(30))
        #expect(!standing.isBad)
        standing.timedOut(after: .seconds(30))
        #expect(standing.isBad)
    }
}
