import CMartletOpenSSL

/// Time-based one-time passwords (RFC 6238) with the default values of the RFC, which authenticator apps expect: six
/// digits, steps of 30 seconds, HMAC with SHA-1. Collisions of SHA-1 do not weaken HMAC.
public struct OneTimePassword: Sendable, CustomStringConvertible {
    /// The length of a secret in bytes. It is the length of a SHA-1 hash, as RFC 4226, section 4, recommends.
    public static let secretLength = 20
    public static let digits = 6
    /// The length of a step in seconds.
    public static let period: Int64 = 30
    /// The number of steps before the current step, and of steps after it, whose codes are also accepted. Clocks
    /// differ, and typing takes time.
    public static let tolerance: Int64 = 1

    private let secret: [UInt8]

    public init(secret: [UInt8]) {
        self.secret = secret
    }

    /// Returns the number of the step that contains a time.
    /// - Parameter seconds: The time, in seconds since 1970.
    public static func step(at seconds: Int64) -> Int64 { seconds / period }

    /// Returns the code of a step, with leading zeros (RFC 4226, section 5.3).
    /// - Throws: `CryptoError.failed` if OpenSSL fails.
    public func code(ofStep step: Int64) throws(CryptoError) -> String {
        let counter = withUnsafeBytes(of: UInt64(bitPattern: step).bigEndian, Array.init)
        var digest = [UInt8](repeating: 0, count: 20)
        var length: UInt32 = 0
        guard HMAC(EVP_sha1(), secret, Int32(secret.count), counter, counter.count, &digest, &length) != nil,
            length == 20
        else { throw .failed(operation: "HMAC with SHA-1") }
        let offset = Int(digest[19] & 15)
        let number = digest[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let text = String(number % 1_000_000)
        return String(repeating: "0", count: Self.digits - text.utf8.count) + text
    }

    /// Returns the accepted step that has this code; nil if no accepted step has it.
    /// - Parameters:
    ///   - seconds: The current time, in seconds since 1970.
    ///   - last: The step of the last code that was used. This step and earlier ones are not accepted again.
    /// - Throws: `CryptoError.failed` if OpenSSL fails.
    public func step(of code: String, at seconds: Int64, after last: Int64) throws(CryptoError) -> Int64? {
        let present = Self.step(at: seconds)
        var found: Int64?
        // The given code is compared with the code of every step in the tolerance, so that the duration does not depend
        // on the step that matches.
        for step in present - Self.tolerance...present + Self.tolerance {
            let isSame = ConstantTime.areEqual(try self.code(ofStep: step), code)
            if isSame, step > last { found = step }
        }
        return found
    }

    /// Returns the URI that an authenticator app reads from a QR code or a link.
    /// - Parameters:
    ///   - issuer: The name of the server: letters and digits.
    ///   - account: The name of the account, without a colon.
    ///   - encode: Percent-encodes a component of the URI.
    public func uri(issuer: String, account: String, encode: (String) -> String) -> String {
        "otpauth://totp/\(encode(issuer)):\(encode(account))?secret=\(text)&issuer=\(encode(issuer))&algorithm=SHA1"
            + "&digits=\(Self.digits)&period=\(Self.period)"
    }

    /// The secret in Base32, as people type it.
    public var text: String { Base32.encode(secret) }

    public var description: String { "OneTimePassword" }
}
