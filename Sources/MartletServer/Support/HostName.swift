import Glibc

/// Finds out the name of this machine, for addresses that are printed and for the names in a certificate.
enum HostName {
    /// The name of this machine; nil if it has no name, or only `localhost` or `localhost.localdomain`.
    static var current: String? {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return nil }
        let text = String(validating: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return text.flatMap { ["", "localhost", "localhost.localdomain"].contains($0) ? nil : $0 }
    }
}
