/// The rules for host names that can be validated with TLS-ALPN-01.
public enum ACMEDomain {
    /// The maximum number of names in one certificate.
    public static let countLimit = 20

    /// Reads a DNS host name and converts it to lower case.
    /// - Returns: nil if the text is an IP address, a wildcard (which this challenge cannot prove) or not a host name.
    public static func name(_ text: some StringProtocol) -> String? {
        let name = text.lowercased()
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard name.utf8.count <= 253, labels.count > 1, labels.allSatisfy(isLabel) else { return nil }
        // The last label of a host name is never a number, whereas the last part of an IPv4 address always is.
        guard let last = labels.last, last.utf8.contains(where: { !isDigit($0) }) else { return nil }
        return name
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
            && label.utf8.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
