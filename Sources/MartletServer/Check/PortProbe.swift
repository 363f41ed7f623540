import Glibc

/// Checks whether a server can listen on an address, by binding a socket to it and closing the socket again.
enum PortProbe {
    /// Tries to bind an address. The host `localhost` stands for 127.0.0.1.
    /// - Returns: 0 if the address is free, otherwise the value of `errno`; nil if the host is neither `localhost` nor
    ///   a numeric address.
    static func error(binding address: ServerConfiguration.Address) -> Int32? {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let host = address.host == "localhost" ? "127.0.0.1" : address.host
        guard getaddrinfo(host, String(address.port), &hints, &found) == 0, let found else { return nil }
        defer { freeaddrinfo(found) }
        let probe = socket(found.pointee.ai_family, found.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { return errno }
        defer { close(probe) }
        // The listener sets this option too. With the option, a port in the state TIME_WAIT counts as free, so the
        // probe gives the same result as the listener.
        var yes: Int32 = 1
        setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        return bind(probe, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0 ? 0 : errno
    }
}
