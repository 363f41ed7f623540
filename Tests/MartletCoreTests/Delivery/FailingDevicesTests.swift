import MartletModel
import Testing

@testable import MartletCore

struct FailingDevicesTests {
    private let start = Timestamp(seconds: 1000)
    private let trial = Duration.seconds(30)

    private func device(_ number: Int64) -> DeviceIdentity { DeviceIdentity(ChannelID(rawValue: number)) }

    private func failure(_ number: Int64, connection: Int? = nil) -> PushEvidence.Failure {
        PushEvidence.Failure(device: device(number), connection: connection, outcome: .noAnswerYet)
    }

    private func wait(_ time: Duration) -> FailingDevices.Entry {
        .wait(FailingDevices.Wait(until: start + time, outcome: .noAnswerYet))
    }

    private func enter(
        _ devices: inout FailingDevices, _ number: Int64 = 1, mayTry: Bool = true, after time: Duration = .zero
    ) -> FailingDevices.Entry {
        devices.enter(device(number), mayTry: mayTry, at: start + time, trialDuration: trial)
    }

    @Test func aDeviceThatFailsWaitsAndIsTriedByOnePushAtATime() {
        var devices = FailingDevices()
        #expect(enter(&devices) == .free)
        devices.fail(failure(1), isTrial: false, at: start)
        devices.fail(failure(1), isTrial: false, at: start)
        #expect(enter(&devices) == wait(.milliseconds(1200)))
        #expect(enter(&devices) == wait(.milliseconds(1400)), "one after another")
        #expect(enter(&devices, 2) == .free)
        #expect(enter(&devices, after: .seconds(1)) == .trial)
        #expect(enter(&devices, after: .seconds(1)) == wait(.milliseconds(2200)))
        devices.fail(failure(1), isTrial: true, at: start + .seconds(1))
        #expect(enter(&devices, after: .seconds(2)) == wait(.milliseconds(3400)), "twice as long")
        #expect(enter(&devices, after: .seconds(3)) == .trial)
        devices.remove(device(1))
        #expect(enter(&devices, after: .seconds(3)) == .free)
        #expect(devices.isEmpty)
    }

    @Test func aDeviceThatFailsLeavesTheTrialOfItsLaneToOthers() {
        var devices = FailingDevices()
        devices.fail(failure(1), isTrial: false, at: start)
        #expect(enter(&devices, mayTry: false, after: .seconds(60)) == wait(.milliseconds(61_200)))
        #expect(enter(&devices, mayTry: true, after: .seconds(60)) == .trial)
    }

    @Test func aConnectionThatBreaksOnceSaysNothingOfTheDevicesOnIt() {
        var devices = FailingDevices()
        for number in 1...2 {
            devices.fail(failure(1, connection: number), isTrial: false, at: start)
            #expect(enter(&devices) == .free)
            #expect(!devices.contains(device(1)))
        }
        devices.fail(failure(1, connection: 3), isTrial: false, at: start)
        #expect(devices.contains(device(1)))
    }

    @Test func allAreTriedAtOnceWhenTheServiceIsWellAgain() {
        var devices = FailingDevices()
        for number in 1...3 { devices.fail(failure(Int64(number)), isTrial: false, at: start) }
        devices.release()
        for number in 1...3 { #expect(enter(&devices, Int64(number)) == .trial) }
        #expect(devices.contains(device(1)), "it is still no probe")
    }

    @Test func theDeviceWithTheOldestFailureIsEvicted() {
        var devices = FailingDevices()
        for number in 1...200 { devices.fail(failure(Int64(number)), isTrial: false, at: start + .seconds(number)) }
        #expect(devices.count == FailingDevices.limit)
        #expect(!devices.contains(device(72)) && devices.contains(device(73)) && devices.contains(device(200)))
    }

    @Test(arguments: 1...50)
    func oneProbeTriesADeviceAndNoDeviceIsLockedOutForever(seed: UInt64) {
        var generator = Generator(state: seed)
        var devices = FailingDevices()
        var now = start
        var trials: [Int64: Timestamp] = [:]
        for step in 0..<500 {
            let message: Comment = "seed \(seed), step \(step)"
            let number = Int64.random(in: 1...4, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: now = now + .seconds(Int64.random(in: 0...40, using: &generator))
            case 1:
                devices.fail(failure(number), isTrial: trials.removeValue(forKey: number) != nil, at: now)
            case 2 where trials[number] != nil:
                devices.remove(device(number))
                trials[number] = nil
            case 3 where trials[number] != nil:
                devices.endTrial(device(number))
                trials[number] = nil
            default:
                let mayTry = Bool.random(using: &generator)
                switch devices.enter(device(number), mayTry: mayTry, at: now, trialDuration: trial) {
                case .free: #expect(!devices.contains(device(number)), message)
                case .trial:
                    #expect(mayTry && trials[number].map { $0 + trial <= now } ?? true, message)
                    trials[number] = now
                case .wait(let wait):
                    #expect(wait.until > now && wait.until <= now + .seconds(60 + 900), message)
                    var later = devices
                    let end = max(now + .seconds(60), trials[number].map { $0 + trial } ?? now)
                    #expect(
                        later.enter(device(number), mayTry: true, at: end, trialDuration: trial) == .trial, message)
                }
            }
        }
    }

    @Test func pushesToADeviceThatIsNotAnsweredWaitWhereOthersAreAnswered() {
        var pushes = OutstandingPushes()
        func wait(_ number: Int64, lastAnswer: Int64?, at time: Int64) -> Duration? {
            pushes.wait(
                for: device(number), lastAnswer: lastAnswer.map { start + .seconds($0) }, at: start + .seconds(time))
        }
        for _ in 1...3 { pushes.begin(device(1), at: start) }
        #expect(wait(1, lastAnswer: 9, at: 10) == nil, "few")
        pushes.begin(device(1), at: start)
        #expect(wait(1, lastAnswer: 1, at: 1) == nil, "not for long")
        #expect(wait(1, lastAnswer: 1, at: 10) == nil, "nobody is answered")
        #expect(wait(1, lastAnswer: nil, at: 10) == nil)
        #expect(wait(1, lastAnswer: 10, at: 10) == .seconds(10))
        #expect(wait(2, lastAnswer: 10, at: 10) == nil, "another device")
        pushes.begin(device(1), at: start)
        pushes.end(device(1), at: start + .seconds(10))
        #expect(wait(1, lastAnswer: 10, at: 10) == nil, "it was answered")
        for _ in 1...4 { pushes.end(device(1), at: start + .seconds(10)) }
        #expect(pushes.isEmpty)
    }
}

private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
