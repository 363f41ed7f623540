import MartletModel

/// The URLs to which a certificate authority accepts requests (RFC 8555, section 7.1.1).
struct ACMEDirectory: Hashable, Sendable {
    let newNonce: ACMEURL
    let newAccount: ACMEURL
    let newOrder: ACMEURL
    /// True if the authority requires an external account, because it only serves its own customers (RFC 8555, section
    /// 7.3.4).
    let needsExternalAccount: Bool

    init?(_ document: JSON?) {
        func url(_ name: String) -> ACMEURL? { document?[name]?.string.flatMap(ACMEURL.init) }
        guard let newNonce = url("newNonce"), let newAccount = url("newAccount"), let newOrder = url("newOrder") else {
            return nil
        }
        self.newNonce = newNonce
        self.newAccount = newAccount
        self.newOrder = newOrder
        needsExternalAccount = document?["meta"]?["externalAccountRequired"]?.bool ?? false
    }
}
