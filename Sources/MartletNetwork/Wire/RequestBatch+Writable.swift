import MartletHTTP

extension RequestBatch.Shared {
    /// True if no shared part of the requests has invalid characters, which could make a peer refuse a request or parse
    /// it differently.
    var isWritable: Bool {
        FieldRules.isName(method.rawValue) && FieldRules.isVisible(origin.authority)
            && (pathPrefix.isEmpty || FieldRules.isVisible(pathPrefix)) && fields.allSatisfy(FieldRules.isSound)
            && itemFieldNames.allSatisfy { FieldRules.isName($0) }
    }
}

extension RequestBatch {
    /// Returns true if no part of one item has invalid characters.
    ///
    /// Must be fast, because it is called for every item.
    func isWritable(_ item: Int) -> Bool {
        guard withPath(item, FieldRules.areVisible) else { return false }
        for index in shared.itemFieldNames.indices where !withValue(index, of: item, FieldRules.areValueBytes) {
            return false
        }
        return true
    }
}

extension RequestBatch.Parts {
    /// Returns the same as `RequestBatch.isWritable(_:)`, for parts that are already borrowed.
    func isWritable(_ item: Int, fieldCount: Int) -> Bool {
        guard FieldRules.areVisible(part(0, of: item)) else { return false }
        for number in 0..<fieldCount where !FieldRules.areValueBytes(part(1 + number, of: item)) { return false }
        return true
    }
}
