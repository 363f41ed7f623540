import MartletModel

extension Invocation {
    /// Prints a JSON value as one line, where `--json` is given.
    /// - Returns: Whether it is; else the command prints text.
    func printJSON(_ value: JSON) -> Bool {
        guard isOn("json") else { return false }
        Terminal.print(String(decoding: value.bytes, as: UTF8.self))
        return true
    }
}
