import MartletHTTP

extension HTTPRequest {
    /// True if no part of the request has invalid characters, which could make a peer refuse the request or parse it
    /// differently.
    var isWritable: Bool {
        FieldRules.isVisible(target) && FieldRules.isName(method.rawValue)
            && (authority.isEmpty || FieldRules.isVisible(authority))
            && fields.allSatisfy(FieldRules.isSound)
    }
}

extension TransportError {
    static let unwritable = TransportError(
        .invalidRequest, mayHaveBeenProcessed: false,
        "the target or a header field has characters that HTTP does not allow")
}
