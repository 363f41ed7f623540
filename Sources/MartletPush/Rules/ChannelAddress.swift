import MartletCore
import MartletHTTP
import MartletModel

/// The rules for handles that are channel URLs. The host of a channel URL must be in the domain of the push service.
///
/// A client can register a made-up URL, so each handle is checked both at registration and before each push.
struct ChannelAddress: Sendable {
    /// The domain that the host names must end with, in lower case and without a leading dot.
    let domain: String
    /// Whether channels may use http without TLS.
    let allowsHTTP: Bool

    /// Checks a handle and returns its key. Two handles with the same key are the same channel.
    ///
    /// In the key, scheme and host are in lower case, and the other parts of the URL are unchanged.
    ///
    /// A handle whose host is this machine (loopback) is accepted, because it may belong to a simulated service. The
    /// hub's credential decides whether pushes are sent to this machine.
    func key(of handle: PushHandle) throws(PushServiceError) -> String {
        guard handle.parts.count == 1, let key = HandleRules.canonicalURL(handle.parts[0], allowsHTTP: allowsHTTP),
            let (origin, _) = HTTPOrigin.splitting(key), isBelowDomain(origin) || origin.isLoopback
        else { throw refusal }
        return key
    }

    /// Returns the origin of a channel, or throws an error if pushes must not be sent there.
    /// - Parameters:
    ///   - handle: The text of the handle, already checked.
    ///   - allowsLoopback: Whether the hub may send to a simulated service on this machine.
    func origin(
        of handle: UnsafeBufferPointer<UInt8>, allowsLoopback: Bool
    ) throws(PushServiceError) -> HTTPOrigin {
        guard let origin = HTTPOrigin.splitting(String(decoding: handle, as: UTF8.self))?.origin,
            origin.scheme == .https || allowsHTTP
        else { throw refusal }
        if origin.isLoopback {
            guard allowsLoopback else {
                throw PushServiceError(.badHandle, "The hub's credential does not allow channels on this machine.")
            }
        } else if !isBelowDomain(origin) {
            throw refusal
        }
        return origin
    }

    private func isBelowDomain(_ origin: HTTPOrigin) -> Bool {
        origin.host.hasSuffix(".\(domain)") && origin.port == origin.scheme.defaultPort
    }

    private var refusal: PushServiceError {
        PushServiceError(
            .badHandle,
            "A channel URI is an absolute \(allowsHTTP ? "http or https" : "https") address at a host below \(domain).")
    }
}
