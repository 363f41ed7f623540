import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// Enrols second factors and checks their codes.
///
/// Somebody who guesses codes knows the password already, so wrong codes are counted by operator, not by address
/// (`AttemptLimit`). The chance that one of a day's guesses is right is less than one in a thousand.
final class SecondFactor: Sendable {
    let store: any OperatorFactorStore
    private let time: any TimeSource
    private let attempts: AttemptLimit

    private static let issuer = "Martlet"
    private static let recoveryCount = 10
    /// The length of a recovery code, in bytes. A code of this length cannot be guessed, so its hash need not be slow.
    private static let recoveryLength = 10

    init(store: any OperatorFactorStore, time: any TimeSource) {
        self.store = store
        self.time = time
        attempts = AttemptLimit(
            time: time, refusal: "There were too many wrong codes; wait before the next one.")
    }

    func factor(of name: String) async throws(ConsoleRefusal) -> OperatorFactor? {
        try await stored { () throws(StorageError) in try await store.factor(of: name) }
    }

    /// Makes the secret of a second factor. The factor is not in use until `confirm` succeeds.
    /// - Returns: The secret in Base32, and the URI that authenticator apps read.
    func begin(_ name: String) async throws(ConsoleRefusal) -> (text: String, uri: String) {
        let secret = RandomBytes.generate(OneTimePassword.secretLength)
        let isBegun = try await stored { () throws(StorageError) in try await store.beginFactor(secret, of: name) }
        guard isBegun else { throw Self.isOn }
        let password = OneTimePassword(secret: secret)
        return (
            password.text,
            password.uri(issuer: Self.issuer, account: name) { PercentEncoding.encode($0) }
        )
    }

    /// Confirms the secret with a code, which turns the second factor on.
    /// - Returns: The recovery codes, which are shown only now.
    func confirm(_ name: String, code: String) async throws(ConsoleRefusal) -> [String] {
        guard let factor = try await factor(of: name) else {
            throw .conflict("There is no secret to confirm: begin again.")
        }
        guard factor.confirmedAt == nil else { throw Self.isOn }
        try attempts.admit(name)
        guard let step = try step(of: code, factor) else { throw .badCode }
        attempts.forgive(name)
        let codes = (0..<Self.recoveryCount).map { _ in Self.makeRecoveryCode() }
        let hashes = codes.map(Self.hash)
        let now = time.now
        let isConfirmed = try await stored { () throws(StorageError) in
            try await store.confirmFactor(factor.secret, of: name, step: step, recoveryCodes: hashes, at: now)
        }
        guard isConfirmed else { throw .conflict("The secret has changed meanwhile: begin again.") }
        return codes
    }

    /// Checks a code of the authenticator app, or a recovery code. Each code can be used only once.
    /// - Parameter code: The code that was given; nil if none was given, which is refused if the operator has a second
    ///   factor.
    func check(_ name: String, code: String?) async throws(ConsoleRefusal) {
        guard let factor = try await factor(of: name), factor.confirmedAt != nil else { return }
        guard let code, !code.isEmpty else { throw .needsCode }
        try attempts.admit(name)
        let isRight: Bool
        if let step = try step(of: code, factor) {
            // Of two requests with the same code, only the first succeeds.
            isRight = try await stored { () throws(StorageError) in try await store.useFactor(of: name, step: step) }
        } else {
            let hash = Self.hash(code)
            isRight = try await stored { () throws(StorageError) in
                try await store.useRecoveryCode(hash, of: name)
            }
        }
        guard isRight else { throw .badCode }
        attempts.forgive(name)
    }

    private func step(of code: String, _ factor: OperatorFactor) throws(ConsoleRefusal) -> Int64? {
        let digits = code.filter { $0 != " " }
        guard digits.utf8.count == OneTimePassword.digits else { return nil }
        do throws(CryptoError) {
            return try OneTimePassword(secret: factor.secret)
                .step(of: digits, at: time.now.seconds, after: factor.lastStep)
        } catch {
            throw .busy("The code could not be checked; try again.")
        }
    }

    // MARK: Recovery codes

    private static func makeRecoveryCode() -> String {
        var text = Base32.encode(RandomBytes.generate(recoveryLength))[...]
        var groups: [Substring] = []
        while !text.isEmpty {
            groups.append(text.prefix(4))
            text = text.dropFirst(4)
        }
        return groups.joined(separator: "-")
    }

    /// Returns the hash of a recovery code. Upper and lower case, spaces and hyphens make no difference.
    private static func hash(_ code: String) -> [UInt8] {
        SHA256.hash(Array(code.uppercased().filter { $0 != " " && $0 != "-" }.utf8))
    }

    private static let isOn = ConsoleRefusal.conflict("There is a second factor already: remove it first.")

    private func stored<Value>(_ work: () async throws(StorageError) -> Value) async throws(ConsoleRefusal) -> Value {
        do throws(StorageError) {
            return try await work()
        } catch {
            throw ConsoleRefusal(error)
        }
    }
}
