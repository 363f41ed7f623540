extension JSON {
    /// The value after a merge patch (RFC 7396): members of the patch replace those of the value, and `null` removes
    /// one.
    public func merged(with patch: JSON) -> JSON {
        guard case .object(let changes) = patch else { return patch }
        var members = object ?? [:]
        for (name, change) in changes {
            members[name] = change == .null ? nil : (members[name] ?? .null).merged(with: change)
        }
        return .object(members)
    }
}
