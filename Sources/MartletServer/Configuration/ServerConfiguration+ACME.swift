import MartletACME

extension ServerConfiguration {
    /// The settings for a certificate that a public authority issues over ACME.
    public struct ACME: Hashable, Sendable {
        /// The names in the certificate.
        ///
        /// The folder with the certificate's files is named after the first name.
        public var domains: [String]
        /// The contact address, a `mailto:` URL.
        public var contact: String?
        /// The URL of the authority's directory; nil for Let's Encrypt.
        public var directory: String?
        /// The path of a PEM file with the certificates to trust for the authority; nil for the system's certificates.
        public var authorityFile: String?
        /// Whether the operator agrees to the authority's terms of service.
        public var agreesToTerms: Bool

        public init(
            domains: [String], contact: String? = nil, directory: String? = nil, authorityFile: String? = nil,
            agreesToTerms: Bool = false
        ) {
            self.domains = domains
            self.contact = contact
            self.directory = directory
            self.authorityFile = authorityFile
            self.agreesToTerms = agreesToTerms
        }

        /// The first name, by which messages refer to the certificate.
        var name: String { domains.first ?? "" }

        /// Returns the checked settings.
        /// - Throws: `ServerError` naming the invalid option.
        func settings() throws(ServerError) -> ACMESettings {
            guard (1...ACMEDomain.countLimit).contains(domains.count) else {
                throw ServerError("--acme-domain takes 1 to \(ACMEDomain.countLimit) names, with commas between them.")
            }
            var names: [String] = []
            for domain in domains {
                guard let name = ACMEDomain.name(domain) else {
                    throw ServerError(
                        "--acme-domain has '\(domain)': give host names such as push.example.org; for wildcards use "
                            + "--tls-certificate.")
                }
                guard !names.contains(name) else { throw ServerError("--acme-domain has '\(domain)' twice.") }
                names.append(name)
            }
            guard let directory = directory.map(ACMEURL.init) ?? .letsEncrypt else {
                throw ServerError("--acme-directory must be an https URL.")
            }
            if let contact, !Self.isContact(contact) {
                throw ServerError("--acme-contact must be a mailto: URL, such as mailto:ops@example.org.")
            }
            guard agreesToTerms else {
                throw ServerError(
                    "--acme-domain needs --acme-agree-to-terms: the authority (\(directory.origin)) has terms of service."
                )
            }
            return ACMESettings(
                domains: names, contact: contact, directory: directory, isOwnDirectory: self.directory != nil,
                authorityFile: authorityFile)
        }

        private static func isContact(_ text: String) -> Bool {
            let address = text.dropFirst("mailto:".count)
            return text.hasPrefix("mailto:") && text.utf8.count <= 320 && address.contains("@")
                && address.utf8.allSatisfy {
                    $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "?")
                }
        }
    }

    /// The ACME settings; nil if the certificate does not come from an ACME authority.
    var acme: ACME? {
        guard case .acme(let acme) = tls else { return nil }
        return acme
    }

    /// The files of the certificate that the ACME authority issues; nil without ACME.
    var acmeFiles: ACMEFiles? {
        acme.map { ACMEFiles(in: dataDirectory, domain: $0.name.lowercased()) }
    }
}

/// The settings for an ACME certificate after they were checked.
struct ACMESettings: Hashable, Sendable {
    let domains: [String]
    let contact: String?
    let directory: ACMEURL
    /// True if the operator has configured the URL of the authority's directory. The directory may then be in a private
    /// network.
    let isOwnDirectory: Bool
    let authorityFile: String?

    var name: String { domains.first ?? "" }
}
