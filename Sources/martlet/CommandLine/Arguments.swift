/// The words that the program was started with.
enum Arguments {
    /// `CommandLine.arguments` puts other characters where bytes are no text: a tag or a body would be another one.
    /// - Parameters:
    ///   - count: How many there are, the program's name among them.
    ///   - vector: Each ends with a NUL.
    /// - Returns: Those after the program's name.
    /// - Throws: `UsageError` where one is not UTF-8.
    static func words(
        _ count: Int32, _ vector: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    ) throws(UsageError) -> [String] {
        var words: [String] = []
        for index in 1..<max(Int(count), 1) {
            guard let word = vector[index] else { break }
            guard let text = String(validatingCString: word) else {
                throw UsageError(description: "Argument \(index) is not UTF-8.")
            }
            words.append(text)
        }
        return words
    }
}
