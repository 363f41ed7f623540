import MartletHTTP
import MartletModel
import MartletPush

/// Accepts the connections of the real devices of one service.
struct DeviceSocketHandler: HTTPHandler {
    private static let goingAway: UInt16 = 1001
    private static let unsupportedData: UInt16 = 1003

    let platform: PlatformID
    let state: SimulatorState
    let subprotocol: String

    func route(for head: HTTPRequest) -> HTTPRoute {
        HTTPRoute(bodyLimit: 0) { await respond(to: $0) }
    }

    func respond(to request: HTTPRequest) async -> HTTPResponse {
        guard Self.isLocal(request) else { return HTTPResponse(.forbidden) }
        let offered = request.fields.values(of: "sec-websocket-protocol").flatMap { value in
            value.split(separator: ",").map { $0.drop { $0 == " " } }
        }
        return .webSocket(subprotocol: offered.contains { $0 == subprotocol } ? subprotocol : nil) { socket in
            await serve(socket)
        }
    }

    /// Returns whether a request is addressed to this machine and does not come from a web page.
    ///
    /// Web pages can open a WebSocket to this machine too, but their `Origin` field names another site. A browser that
    /// connects as a device puts the address of this socket into `Origin`, or sends no such field.
    private static func isLocal(_ request: HTTPRequest) -> Bool {
        guard HTTPOrigin("http://\(request.authority)")?.isLoopback == true else { return false }
        guard let origin = request.fields["origin"] else { return true }
        return origin == "ws://\(request.authority)\(request.target)"
    }

    private func serve(_ socket: any WebSocket) async {
        let (number, actions) = state.openSocket()
        await withTaskGroup { group in
            group.addTask {
                await perform(actions, on: socket)
            }
            while let message = await socket.receive() {
                guard case .text(let text) = message else {
                    socket.close(code: Self.unsupportedData)
                    break
                }
                state.receive(text, on: number, of: platform)
            }
            state.closeSocket(number, of: platform)
        }
    }

    /// Performs actions on a device's connection until the queue of actions ends, and then closes the connection. The
    /// queue ends when the device disconnects, when too many actions wait for the device, or when the simulator is
    /// reset.
    private func perform(_ actions: AsyncStream<SocketStep.Action>, on socket: any WebSocket) async {
        for await action in actions {
            switch action {
            case .close(let code): socket.close(code: code)
            case .send(let text):
                do {
                    try await socket.send(.text(text))
                } catch {
                    return
                }
            }
        }
        socket.close(code: Self.goingAway)
    }
}

extension SimulatorState {
    fileprivate func openSocket() -> (socket: UInt64, actions: AsyncStream<SocketStep.Action>) {
        withContents { contents, _ in contents.sockets.open() }
    }

    fileprivate func receive(_ text: String, on socket: UInt64, of platform: PlatformID) {
        withContents { contents, now in
            let steps = contents.withDevices(of: platform) { $0.receive(text, on: socket, at: now) }
            contents.sockets.perform(steps ?? [])
        }
    }

    fileprivate func closeSocket(_ socket: UInt64, of platform: PlatformID) {
        withContents { contents, _ in
            contents.sockets.close(socket)
            _ = contents.withDevices(of: platform) { $0.socketClosed(socket) }
        }
    }
}

extension SimulatorState.Contents {
    /// Calls `body` with the rules of a service, if real devices can connect to that service.
    /// - Returns: nil if real devices cannot connect to the service.
    fileprivate mutating func withDevices<Result>(
        of platform: PlatformID, _ body: (inout any DeviceSocketSimulator) -> Result
    ) -> Result? {
        let lent = withService(platform) { service -> Result? in
            guard var rules = service.rules as? any DeviceSocketSimulator else { return nil }
            let result = body(&rules)
            service.rules = rules
            return result
        }
        return lent ?? nil
    }
}
