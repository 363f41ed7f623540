import FuzzDriver
import MartletCore

/// Input: a value with the refusals and attempts of a page. Checks that it is read or refused, without a crash, and that
/// what was read is the same after it was written again.
@main
struct FuzzPageRecords {
    static func main() {
        fuzz { bytes, count in
            guard let records = PageRecords(Array(UnsafeBufferPointer(start: bytes, count: count))) else { return 0 }
            var encoder = PageRecordsEncoder()
            for index in 0..<records.refusalCount {
                let recorded = records.recordedRefusal(index)
                encoder.append(
                    recorded.refusal, recorded.registration.map(PageRecordsEncoder.Registration.init),
                    installation: recorded.installation)
            }
            var index = 0
            while index < records.attemptCount {
                let attempts = records.attempts(of: records.member(ofAttempt: index))
                for attempt in attempts { encoder.append(attempt) }
                index += attempts.count
            }
            guard let again = PageRecords(encoder.encoded()) else { preconditionFailure("what was written is read") }
            precondition(again.refusalCount == records.refusalCount && again.attemptCount == records.attemptCount)
            for index in 0..<records.refusalCount {
                let (one, other) = (records.recordedRefusal(index), again.recordedRefusal(index))
                precondition(one.refusal.member == other.refusal.member && one.registration == other.registration)
                precondition(one.refusal.handle == other.refusal.handle && one.refusal.at == other.refusal.at)
                precondition(records.facts(ofRefusal: index) == again.facts(ofRefusal: index))
            }
            return 0
        }
    }
}
