extension [Tag] {
    /// Each once, where it stands first.
    public var unique: [Tag] {
        var seen: Set<Tag> = []
        return filter { seen.insert($0).inserted }
    }
}
