import MartletModel

extension Registration {
    /// The approximate memory of the registration, in bytes.
    public var memoryBytes: Int {
        let handle = handle.parts.reduce(0) { $0 + $1.utf8.count }
        let content = (template?.memoryBytes ?? 0) + (pushVariables.isEmpty ? 0 : pushVariables.memoryBytes)
        return 512 + handle + Self.tagBytes * tags.count + content
    }

    /// The memory that is assumed for one tag, in bytes. Most tags need less.
    private static let tagBytes = 160
}

extension Template {
    /// The approximate memory of the template, in bytes.
    var memoryBytes: Int {
        let headers = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 96 }
        return 256 + (name?.utf8.count ?? 0) + body.utf8.count + headers + options.memoryBytes
    }
}

extension [String: String] {
    /// The approximate memory of the dictionary, in bytes.
    var memoryBytes: Int { reduce(64) { $0 + $1.key.utf8.count + $1.value.utf8.count + 128 } }
}
