extension HTTPOrigin {
    /// True if the host is a loopback address (127.0.0.0/8, ::1) or `localhost`. A host name that begins with 127 does
    /// not count.
    public var isLoopback: Bool {
        if host == "localhost" { return true }
        // Most hosts are names. They are told apart first, because pushes to subscriptions ask for each device.
        guard host.utf8.first == UInt8(ascii: "1") || host.utf8.contains(UInt8(ascii: ":")),
            let address = IPAddress(host)
        else { return false }
        return address.isIPv4 ? address.bytes.first == 127 : address.bytes == Array(repeating: 0, count: 15) + [1]
    }
}
