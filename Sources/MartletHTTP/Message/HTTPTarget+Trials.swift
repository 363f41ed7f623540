extension HTTPTarget {
    /// The sentence, without its full stop, with which a route that has neither dry runs nor tests refuses a request
    /// that asks for one; nil if the request asks for neither. An item that only looks like `dryRun` or `test` is
    /// refused too, because the caller does not expect that anything is really sent.
    public var refusalOfTrial: String? {
        guard let item = query.first(where: { $0.resembles("dryRun") || $0.resembles("test") }) else { return nil }
        return "This request has no dry run and no test: leave out the query item '\(item.name)'; nothing was done"
    }

    /// The sentence, without its full stop, with which a route that has no dry runs refuses a request that asks for one
    /// by an item that looks like `dryRun`; nil if there is no such item. An item `test` is ignored, because the .NET
    /// client can add it to every request (NotificationHubs.md, section 1.5).
    public var refusalOfDryRun: String? {
        guard let item = query.first(where: { $0.resembles("dryRun") }) else { return nil }
        return "This request has no dry run: leave out the query item '\(item.name)'; nothing was done"
    }
}

extension HTTPTarget.QueryItem {
    /// Returns true if the item's name has the letters of a word, in any case and with any characters between them that
    /// are no letters: `dry-run` resembles `dryRun`.
    /// - Parameter word: A word of ASCII letters.
    public func resembles(_ word: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        // The names are compared lazily, byte by byte, because converting to lower case is slow.
        return name.utf8.lazy.map { $0 | 0x20 }.filter(letters.contains)
            .elementsEqual(word.utf8.lazy.map { $0 | 0x20 })
    }
}
