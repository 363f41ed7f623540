extension HTTPOrigin {
    /// True if the host is a loopback address (127.0.0.0/8, ::1) or `localhost`. A host name that begins with 127 does
    /// not count.
    public var isLoopback: Bool {
        if host == "localhost" { return true }
        // This property is read for every push to a subscription, and most hosts are names. A host that cannot be a
        // loopback address is therefore recognised before the slower parsing.
        guard host.utf8.first == UInt8(ascii: "1") || host.utf8.contains(UInt8(ascii: ":")),
            let address = IPAddress(host)
        else { return false }
        return address.isIPv4 ? address.bytes.first == 127 : address.bytes == Array(repeating: 0, count: 15) + [1]
    }
}
