import MartletHTTP

/// A feature of Azure's blob service that these containers do not support, and that changes the meaning of a request. A
/// request with such a feature is refused, because a server that ignored the feature would store, delete or return the
/// wrong thing.
///
/// Header fields that only describe a blob, such as `x-ms-meta-…`, or that only ask for more checks, are ignored.
struct UnservedFeature: Hashable {
    let name: String
    /// The advice on what to do instead of using the feature, as a clause.
    let advice: String

    private static let copy = "read the source and send its bytes as the body"
    private static let lease = "leave the lease out, and use If-Match to notice other writers"
    private static let condition = "compare entity tags instead, by If-Match"

    /// Returns the first unsupported feature that a request uses; nil if it uses none.
    static func first(in request: HTTPRequest, _ target: HTTPTarget) -> UnservedFeature? {
        for item in target.query {
            let name = item.name.lowercased()
            guard ["snapshot", "versionid"].contains(name) else { continue }
            return UnservedFeature(name: name, advice: "leave it out; a blob has only its current content here")
        }
        guard [.put, .delete].contains(request.method) else { return nil }
        for field in request.fields where !field.value.isEmpty {
            if let advice = advice(field, request.method) { return UnservedFeature(name: field.name, advice: advice) }
        }
        return nil
    }

    /// Returns the advice on a header field that asks for an unsupported feature; nil if the field is supported, or can
    /// be ignored.
    private static func advice(_ field: HTTPField, _ method: HTTPMethod) -> String? {
        let isAny = field.value == "*"
        switch field.name {
        case "x-ms-copy-source": return copy
        case "x-ms-lease-id", "x-ms-lease-action", "x-ms-proposed-lease-id": return lease
        // `x-ms-encryption-algorithm` alone asks for nothing: SDKs of 2020 to 2022 send it with every blob.
        case "x-ms-encryption-key", "x-ms-encryption-key-sha256", "x-ms-encryption-scope":
            return "encrypt the content before sending it"
        case "x-ms-structured-body": return "send the plain content as the body"
        case "content-range", "x-ms-range": return "send the whole blob, or its blocks and a block list"
        case "x-ms-immutability-policy-until-date", "x-ms-immutability-policy-mode", "x-ms-legal-hold":
            return "give no URL with the rights to write and delete to those who must not"
        case "x-ms-delete-snapshots" where field.value.lowercased() == "only":
            return "leave it out to delete the blob, which has no snapshots"
        case "if-modified-since", "if-unmodified-since", "x-ms-if-tags": return condition
        case "if-none-match" where !isAny: return "use If-Match, or If-None-Match: * to create a blob"
        case "if-match" where method == .delete && !isAny: return "leave it out"
        default: return nil
        }
    }
}
