import MartletModel

extension Invocation {
    /// Prints a JSON value as one line if `--json` is given.
    /// - Returns: Whether `--json` is given; otherwise the command prints text.
    func printJSON(_ value: JSON) -> Bool {
        guard isOn("json") else { return false }
        Terminal.print(String(decoding: value.bytes, as: UTF8.self))
        return true
    }
}
