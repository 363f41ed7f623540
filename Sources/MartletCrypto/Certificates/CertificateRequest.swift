import CMartletOpenSSL

/// The content of a certificate to issue.
public struct CertificateRequest: Sendable, Equatable {
    /// The subject's common name.
    public var commonName: String
    /// The owner's DNS names (a leading `*.` is allowed) and IP addresses, either IPv4 or IPv6.
    public var hosts: [String]
    /// The subject's user id attribute (`Certificate.userID`); nil for none.
    public var userID: String?
    /// The additional extensions. Each key is the dotted object identifier of an extension, and each value is its DER
    /// content.
    public var extensions: [String: [UInt8]]

    public init(
        commonName: String, hosts: [String] = [], userID: String? = nil, extensions: [String: [UInt8]] = [:]
    ) {
        self.commonName = commonName
        self.hosts = hosts
        self.userID = userID
        self.extensions = extensions
    }

    /// Returns the hosts in the syntax of OpenSSL's extension parser. Every character is checked, to prevent injection
    /// into that syntax.
    func subjectAlternativeNames() throws(CryptoError) -> String {
        var names: [String] = []
        for host in hosts {
            if Self.isIPAddress(host) {
                names.append("IP:\(host)")
            } else if Self.isDNSName(host) {
                names.append("DNS:\(host)")
            } else {
                throw .invalidName(host)
            }
        }
        return names.joined(separator: ",")
    }

    private static func isIPAddress(_ host: String) -> Bool {
        guard let address = a2i_IPADDRESS(host) else {
            ERR_clear_error()
            return false
        }
        ASN1_OCTET_STRING_free(address)
        return true
    }

    private static func isDNSName(_ host: String) -> Bool {
        let name = host.hasPrefix("*.") ? host.dropFirst(2) : host[...]
        guard name.utf8.count <= 253 else { return false }
        return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy(isLabelCharacter)
        }
    }

    private static func isLabelCharacter(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
