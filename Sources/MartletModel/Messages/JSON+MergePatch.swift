extension JSON {
    /// Applies a JSON Merge Patch (RFC 7396): members of the patch replace members of the value, and `null` removes a
    /// member.
    public func merged(with patch: JSON) -> JSON {
        guard case .object(let changes) = patch else { return patch }
        var members = object ?? [:]
        for (name, change) in changes {
            members[name] = change == .null ? nil : (members[name] ?? .null).merged(with: change)
        }
        return .object(members)
    }
}
