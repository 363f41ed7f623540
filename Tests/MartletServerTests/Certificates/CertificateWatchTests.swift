import MartletModel
import Testing

@testable import MartletServer

struct CertificateWatchTests {
    private let start = Timestamp(seconds: 1_700_000_000)
    private let old = CertificateWatch.Source.files([stamp(1), stamp(2)])
    private let new = CertificateWatch.Source.files([stamp(3), stamp(2)])

    private static func stamp(_ inode: UInt64) -> FileStamp { FileStamp(inode: inode, changed: 1, size: 1) }

    private func watch(_ source: CertificateWatch.Source, days: Int = 90) -> CertificateWatch {
        CertificateWatch("certa.pem", begins: start, ends: start + .seconds(days * 86_400), from: source)
    }

    @Test func filesAreLoadedOnceTheyLookDifferent() {
        var watch = watch(old)
        #expect(watch.look(at: old, now: start) == [])
        #expect(watch.look(at: new, now: start) == [.load])
        #expect(watch.look(at: .files([nil, nil]), now: start) == [.load])
    }

    @Test func filesThatDoNotFitAreTriedAgainAndReportedOnceAfterFiveMinutes() {
        var watch = watch(old)
        var said: [CertificateWatch.Action?] = []
        for minute in 0..<8 {
            let now = start + .seconds(60 * minute)
            #expect(watch.look(at: new, now: now) == [.load])
            said.append(watch.failed("key.pem is not the key.", now: now))
        }
        #expect(
            said == [
                nil, nil, nil, nil, nil, .warn("The certificate was not exchanged: key.pem is not the key."), nil, nil,
            ])
        #expect(watch.failed("key.pem is missing.", now: start + .seconds(480)) != nil, "another reason")
    }

    @Test func filesThatAreAsBeforeAgainBeginANewPatience() {
        var watch = watch(old)
        #expect(watch.failed("wrong", now: start) == nil)
        #expect(watch.look(at: old, now: start + .seconds(60)) == [])
        #expect(watch.failed("wrong", now: start + .seconds(600)) == nil)
    }

    @Test func aCertificateOfThePrivateAuthorityIsIssuedAnewAtTwoThirdsOfItsLife() {
        var watch = watch(.selfSigned)
        #expect(watch.look(at: .selfSigned, now: start + .seconds(60 * 86_400 - 1)) == [])
        #expect(watch.look(at: .selfSigned, now: start + .seconds(60 * 86_400)) == [.load])
    }

    @Test func theEndIsSpokenOfOnceADayFromFourteenDaysBefore() {
        var watch = watch(old, days: 90)
        #expect(watch.look(at: old, now: start + .seconds(76 * 86_400 - 1)) == [])
        let warning = CertificateWatch.Action.warn("certa.pem ends on 2024-02-12: renew it.")
        #expect(watch.look(at: old, now: start + .seconds(76 * 86_400)) == [warning])
        #expect(watch.look(at: old, now: start + .seconds(77 * 86_400 - 1)) == [])
        #expect(watch.look(at: old, now: start + .seconds(77 * 86_400)) == [warning])
        #expect(
            watch.look(at: old, now: start + .seconds(91 * 86_400))
                == [.report("certa.pem ended on 2024-02-12: clients refuse it. Renew it.")])
    }
}
