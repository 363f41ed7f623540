extension [Tag] {
    /// The tags without duplicates, in the order of first occurrence.
    public var unique: [Tag] {
        var seen: Set<Tag> = []
        return filter { seen.insert($0).inserted }
    }
}
