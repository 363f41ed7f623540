import MartletCore

/// Hides secrets just enough that a test can see whether they were sealed, and for which context.
struct XORSealer: Sealer {
    var key: UInt8 = 0x5A

    func seal(_ secret: [UInt8], context: String) -> [UInt8] {
        Array(context.utf8) + [0] + secret.map { $0 ^ key }
    }

    func open(_ sealed: [UInt8], context: String) -> [UInt8]? {
        let prefix = Array(context.utf8) + [0]
        guard sealed.starts(with: prefix) else { return nil }
        let secret = sealed.dropFirst(prefix.count).map { $0 ^ key }
        return String(validating: secret, as: UTF8.self) == nil ? nil : secret
    }
}
