/// Recognizes hosts that are this machine: `localhost`, `::1`, and the addresses in 127.0.0.0/8.
enum LoopbackName {
    static func matches(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || isLoopbackAddress(host)
    }

    /// Returns whether a host is an address in 127.0.0.0/8, written as four decimal numbers.
    private static func isLoopbackAddress(_ host: String) -> Bool {
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
    }
}
