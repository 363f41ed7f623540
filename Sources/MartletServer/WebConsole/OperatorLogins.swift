import MartletBackend
import MartletConsole

/// Checks the passwords of operators in the same way as the app backend checks those of its users.
struct OperatorLogins: OperatorPasswords {
    let logins: PasswordLogins

    func hash(_ password: [UInt8]) async -> String? { await logins.hash(password) }

    func check(
        _ password: [UInt8], against hash: String?, of name: String, from address: String
    ) async -> PasswordCheck {
        switch await logins.check(password, against: hash, of: name, from: address) {
        case .right: .right
        case .wrong: .wrong
        case .refused(let seconds): .refused(retryAfter: seconds)
        case .busy: .busy
        }
    }

    func limit(_ name: String, from address: String, _ work: () async -> AttemptResult) async -> Int64? {
        await logins.limit(name, from: address) {
            switch await work() {
            case .succeeded: .succeeded
            case .failed: .failed
            case .withdrawn: .withdrawn
            }
        }
    }
}
