import MartletHTTP

extension HTTPRequest {
    /// Whether nothing in the request would be refused, or read differently, by any peer.
    var isWritable: Bool {
        FieldRules.isVisible(target) && FieldRules.isName(method.rawValue)
            && (authority.isEmpty || FieldRules.isVisible(authority))
            && fields.allSatisfy(FieldRules.isSound)
    }
}

extension TransportError {
    static let unwritable = TransportError(
        .invalidRequest, mayHaveBeenProcessed: true,
        "the target or a header field has characters that HTTP does not allow")
}
