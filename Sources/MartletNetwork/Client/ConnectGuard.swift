public import MartletHTTP

/// Decides whether a client may connect to an address that a name resolved to.
///
/// It sees the address itself, so a name that resolves to something inside the operator's network is found out however
/// harmless it looks.
public typealias ConnectGuard = @Sendable (_ origin: HTTPOrigin, _ address: SocketAddress) -> Bool
