import MartletCore

/// Hides secrets just enough that a test can see whether they were sealed, and for which context.
struct XORSealer: Sealer {
    var key: UInt8 = 0x5A
    /// Those that open what was sealed before.
    var oldKeys: [UInt8] = []

    var mark: [UInt8] { [key] }

    func seal(_ secret: [UInt8], context: String) -> [UInt8] {
        mark + Array(context.utf8) + [0] + secret.map { $0 ^ key }
    }

    func open(_ sealed: [UInt8], context: String) -> [UInt8]? {
        guard let key = sealed.first, key == self.key || oldKeys.contains(key) else { return nil }
        let prefix = Array(context.utf8) + [0]
        guard sealed.dropFirst().starts(with: prefix) else { return nil }
        return sealed.dropFirst(1 + prefix.count).map { $0 ^ key }
    }
}
