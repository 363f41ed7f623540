import Testing

@testable import MartletCore

struct SendStepTests {
    @Test func theNextStepFollowsFromTheControlAndTheProgress() {
        func next(
            _ control: NotificationControl, isFannedOut: Bool = false, hasExpired: Bool = false,
            isInterrupted: Bool = false
        ) -> SendStep {
            .next(
                isFannedOut: isFannedOut, control: control, hasExpired: hasExpired, isInterrupted: isInterrupted)
        }
        #expect(next(.running) == .fanOut)
        #expect(next(.running, isFannedOut: true) == .retry)
        #expect(next(.running, hasExpired: true) == .giveUp(.abandoned))
        for held in [NotificationControl.paused, .halted] {
            #expect(next(held) == .hold)
            #expect(next(held, isFannedOut: true) == .hold)
            #expect(next(held, hasExpired: true) == .giveUp(.abandoned))
        }
        #expect(next(.canceled) == .giveUp(.canceled))
        #expect(next(.canceled, isFannedOut: true, hasExpired: true) == .giveUp(.canceled))
        #expect(next(.canceled, isInterrupted: true) == .interrupt)
    }

    @Test func wishesHoldAsLongAsThereIsSomethingToWishFor() {
        let table: [(NotificationControl, [NotificationControl?])] = [
            // cancel, pause, resume, halt
            (.running, [.canceled, .paused, .running, .halted]),
            (.paused, [.canceled, .paused, .running, .paused]),
            (.halted, [.canceled, .halted, .running, .halted]),
            (.canceled, [.canceled, nil, nil, nil]),
        ]
        for (control, after) in table {
            let found = [ControlRequest.cancel, .pause, .resume, .halt].map { control.after($0, hasEnded: false) }
            #expect(found == after)
            let ended = [ControlRequest.cancel, .pause, .resume, .halt].map { control.after($0, hasEnded: true) }
            #expect(ended == [control == .canceled ? .canceled : nil, nil, nil, nil])
        }
    }
}
