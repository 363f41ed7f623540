import MartletHTTP

/// Decides which requests may use the control interface.
///
/// Any web page in a browser on this machine can send requests to the interface. Therefore the field `Host` of a
/// request must be an address of this machine. The field `Origin`, if the request has one, must be the origin of the
/// control interface itself.
struct ControlAccess: Sendable {
    /// The host that the simulator was configured to listen on.
    let host: String

    /// Returns the reason why a request is refused; nil if it is accepted.
    func refusal(of request: HTTPRequest) -> String? {
        guard let own = HTTPOrigin("https://\(request.authority)"),
            own.isLoopback || own.host == host.lowercased()
        else {
            return "The control interface answers at addresses of this machine alone: Host must be localhost, "
                + "127.0.0.1, [::1] or the address that it listens on."
        }
        let origins = request.fields.values(of: "origin")
        guard origins.allSatisfy({ HTTPOrigin($0) == own }) else {
            return "Pages of other origins may not use the control interface."
        }
        return nil
    }
}

/// The control interface with its access check. The check reads only the head of a request, so a refused request ends
/// before its body is read.
struct ControlHandler: HTTPHandler {
    let access: ControlAccess
    let routes: Router

    func route(for head: HTTPRequest) -> HTTPRoute {
        guard let refusal = access.refusal(of: head) else { return routes.route(for: head) }
        return HTTPRoute(refusing: ControlRoutes.refuse(.forbidden, refusal))
    }
}
