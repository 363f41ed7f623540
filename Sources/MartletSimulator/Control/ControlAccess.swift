import MartletHTTP

/// Who may use the control interface. Any page in a browser on this machine can send requests to it, so they must name an
/// address of this machine and come from no other page.
struct ControlAccess: Sendable {
    /// The host that the simulator was told to listen on.
    let host: String

    /// - Returns: Why a request is refused; nil where it is not.
    func refusal(of request: HTTPRequest) -> String? {
        guard let own = HTTPOrigin("https://\(request.authority)"), allows(own.host) else {
            return "The control interface answers at addresses of this machine alone: Host must be localhost, "
                + "127.0.0.1, [::1] or the address that it listens on."
        }
        let origins = request.fields.values(of: "origin")
        guard origins.allSatisfy({ HTTPOrigin($0) == own }) else {
            return "Pages of other origins may not use the control interface."
        }
        return nil
    }

    private func allows(_ name: String) -> Bool {
        name == host.lowercased() || ["localhost", "::1"].contains(name) || Self.isLoopbackAddress(name)
    }

    /// 127.0.0.0/8 as four numbers.
    private static func isLoopbackAddress(_ name: String) -> Bool {
        let numbers = name.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
    }
}

/// The control interface behind its check, which a request meets on its head.
struct ControlHandler: HTTPHandler {
    let access: ControlAccess
    let routes: Router

    func route(for head: HTTPRequest) -> HTTPRoute {
        guard let refusal = access.refusal(of: head) else { return routes.route(for: head) }
        return HTTPRoute(refusing: ControlRoutes.refuse(.forbidden, refusal))
    }
}
