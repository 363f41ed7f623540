extension [Tag] {
    /// The tags without duplicates, in the order of first occurrence.
    public var unique: [Tag] {
        // A few tags are compared faster than hashed.
        if count <= 8 { return reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
        var seen: Set<Tag> = []
        return filter { seen.insert($0).inserted }
    }
}
