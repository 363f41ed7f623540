import MartletHTTP
import MartletModel
import MartletPush

/// The routes that list real devices and act on their connections.
extension ControlRoutes {
    /// The close code that devices get by default: the service is going away (RFC 6455, section 7.4.1).
    private static let goingAway: Int64 = 1001

    func addSockets(to router: inout Router) {
        let state = state
        router.on(.get, "/simulator/sockets") { _, _ in
            Self.json(
                state.withContents { contents, _ in
                    JSON.object(
                        Dictionary(
                            contents.services.compactMap { service in
                                let rules = service.rules as? any DeviceSocketSimulator
                                return rules.map { (service.platform.rawValue, $0.connectedDevices) }
                            }
                        ) { $1 })
                })
        }
        router.on(.post, "/simulator/sockets/close", bodyLimit: Self.bodyLimit) { request, _ in
            Self.answer { () throws(SimulatorError) in
                let body = try Self.body(request)
                guard let code = UInt16(exactly: body["code"]?.integer ?? Self.goingAway), 1000...4999 ~= code else {
                    throw SimulatorError("\"code\" must be a number from 1000 to 4999.")
                }
                try state.onSockets(of: try Self.platform(body), .close(code: code))
                return HTTPResponse(.noContent)
            }
        }
        router.on(.post, "/simulator/sockets/send", bodyLimit: Self.bodyLimit) { request, _ in
            Self.answer { () throws(SimulatorError) in
                let body = try Self.body(request)
                guard let message = body["message"], message.object != nil else {
                    throw SimulatorError("\"message\" must be an object: it is sent as it is.")
                }
                try state.onSockets(of: try Self.platform(body), .send(message.text))
                return HTTPResponse(.noContent)
            }
        }
    }
}

extension SimulatorState {
    /// Performs an action on the connection of each device of a service.
    fileprivate func onSockets(of platform: PlatformID, _ action: SocketStep.Action) throws(SimulatorError) {
        try withContents { (contents, _) throws(SimulatorError) in
            let service = contents.services.first { $0.platform == platform }
            guard let rules = service?.rules as? any DeviceSocketSimulator else {
                throw SimulatorError("\"platform\" names none that real devices connect to.")
            }
            contents.sockets.perform(rules.sockets.map { SocketStep($0, action) })
        }
    }
}
