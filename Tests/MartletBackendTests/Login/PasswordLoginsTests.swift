import MartletCrypto
import MartletTesting
import Testing

@testable import MartletBackend

struct PasswordLoginsTests {
    private let time = ManualTimeSource()

    private func attempts(_ logins: PasswordLogins, _ result: PasswordLogins.Attempt, _ count: Int) async -> [Int64?] {
        var waits: [Int64?] = []
        for _ in 0..<count { waits.append(await logins.limit("provider", from: "192.0.2.1") { result }) }
        return waits
    }

    @Test func failuresWithoutAPasswordAreLimitedAsThoseWithOne() async {
        let logins = PasswordLogins(time: time)
        let waits = await attempts(logins, .failed, 6)
        #expect(waits.prefix(5).allSatisfy { $0 == nil })
        #expect((waits.last ?? nil).map { (1...31).contains($0) } == true)
        #expect(await logins.limit("provider", from: "198.51.100.7") { .failed } == nil)
    }

    @Test(arguments: [PasswordLogins.Attempt.succeeded, .withdrawn])
    func whatDidNotFailDoesNotCount(result: PasswordLogins.Attempt) async {
        let logins = PasswordLogins(time: time)
        #expect(await attempts(logins, result, 50).allSatisfy { $0 == nil })
    }

    @Test func nothingIsPerformedWhileAClientMustWait() async {
        let logins = PasswordLogins(time: time)
        _ = await attempts(logins, .failed, 5)
        var isPerformed = false
        _ = await logins.limit("provider", from: "192.0.2.1") {
            isPerformed = true
            return .succeeded
        }
        #expect(!isPerformed)
    }
}
