import MartletModel

/// The state of an order (RFC 8555, section 7.1.3).
struct ACMEOrderDocument: Hashable, Sendable {
    enum Status: String, Sendable {
        case pending, ready, processing, valid, invalid
    }

    let status: Status
    let authorizations: [ACMEURL]
    let finalize: ACMEURL
    let certificate: ACMEURL?
    let problem: ACMEProblem?

    /// Reads the state of an order from the authority's answer; nil if the answer is not an order.
    /// - Parameter limit: The maximum number of authorizations; there is one for each name.
    init?(_ document: JSON?, limit: Int) {
        guard let status = document?["status"]?.string.flatMap(Status.init),
            let finalize = document?["finalize"]?.string.flatMap(ACMEURL.init),
            let listed = document?["authorizations"]?.array, listed.count <= limit
        else { return nil }
        let authorizations = listed.compactMap { $0.string.flatMap(ACMEURL.init) }
        guard authorizations.count == listed.count else { return nil }
        self.status = status
        self.authorizations = authorizations
        self.finalize = finalize
        certificate = document?["certificate"]?.string.flatMap(ACMEURL.init)
        problem = ACMEProblem(document?["error"])
    }
}
