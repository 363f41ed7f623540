import MartletHTTP

@testable import MartletNetwork

/// A client protocol of either kind, back to back with a server session.
struct BulkPair {
    enum Kind: CaseIterable {
        case bulk
        case reference
    }

    let serverConnection = FakeConnection()
    let clientConnection = FakeConnection()
    let owner = FakeOwner()
    let dispatch: FakeDispatch
    let control: HTTP2ConnectionControl
    let server: HTTP2ServerSession
    let client: any ClientProtocol
    let ledger = BatchLedger()

    init(
        _ kind: Kind = .bulk, limits: ServerLimits = ServerLimits(), settings: HTTP2Settings = HTTP2Settings(),
        dispatch: FakeDispatch = FakeDispatch(), inFlight: InFlightLimit = InFlightLimit(startingAt: 4096)
    ) {
        let info = HTTPConnection(id: 1, peer: "", isSecure: true, majorVersion: 2)
        self.dispatch = dispatch
        control = HTTP2ConnectionControl(connection: info, wake: {})
        server = HTTP2ServerSession(
            connection: serverConnection, dispatch: dispatch, info: info, limits: limits, settings: settings,
            control: control)
        client =
            switch kind {
            case .bulk: BulkSession(connection: clientConnection, owner: owner, inFlight: inFlight)
            case .reference: HTTP2ClientSession(connection: clientConnection, owner: owner, inFlight: inFlight)
            }
    }

    @discardableResult
    func draw(_ batch: RequestBatch, within time: Duration = .seconds(30)) -> BatchRun {
        let run = ledger.run(batch, from: clientConnection.now, before: clientConnection.now + time)
        client.draw(from: run)
        return run
    }

    func run(cut: Cut = .whole) {
        exchange(client, server, cut: cut)
    }

    func pass(_ time: Duration) {
        clientConnection.now += time
        serverConnection.now += time
        client.expire(at: clientConnection.now)
    }
}

/// Notifications as a push service takes them.
func notifications(_ count: Int, body: [UInt8] = Array(#"{"aps":{"alert":"hi"}}"#.utf8)) -> RequestBatch {
    let fields = HTTPFields([
        HTTPField("authorization", "bearer secret", indexing: .never), HTTPField("apns-topic", "com.example.app"),
        HTTPField("apns-push-type", "alert"),
    ])
    var batch = RequestBatch(
        RequestBatch.Shared(
            origin: testOrigin, pathPrefix: "/3/device/", fields: fields, itemFieldNames: ["apns-id"], body: body))
    for item in 0..<count { batch.append(path: "token\(item)".utf8, values: [Array("id-\(item)".utf8)]) }
    return batch
}
