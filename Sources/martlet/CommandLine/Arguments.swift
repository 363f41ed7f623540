/// The arguments that the program was started with.
enum Arguments {
    /// Returns the arguments as strings. `CommandLine.arguments` is not used, because it replaces bytes that are not
    /// UTF-8, which would change a tag or a body.
    /// - Parameters:
    ///   - count: The number of arguments, including the program's name.
    ///   - vector: The arguments, each terminated by NUL.
    /// - Returns: The arguments after the program's name.
    /// - Throws: `UsageError` if an argument is not UTF-8.
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
