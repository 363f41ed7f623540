extension [Tag] {
    /// The tags without duplicates, in the order of first occurrence.
    public var unique: [Tag] {
        // For a few tags, comparing them is faster than hashing them.
        if count <= 8 { return reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
        var seen: Set<Tag> = []
        return filter { seen.insert($0).inserted }
    }
}
