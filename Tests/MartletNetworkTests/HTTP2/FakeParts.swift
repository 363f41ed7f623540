import MartletHTTP

@testable import MartletNetwork

/// Answers requests with a closure, at once or when the test says so.
final class FakeDispatch: RequestDispatch {
    typealias Answer = (HTTPRequest, any ResponseStream) -> Void

    var bodyLimit = 1 << 20
    var streams = false
    var ignores = false
    var account = HTTPBodyAccount.address
    var answer: Answer
    private(set) var requests: [HTTPRequest] = []
    private(set) var running: [FakeRunning] = []
    private(set) var bodies: [RequestBody?] = []

    init(_ answer: @escaping Answer = { request, stream in stream.send(HTTPResponse(.ok)) }) {
        self.answer = answer
    }

    func route(for head: HTTPRequest) -> HTTPRoute {
        guard !ignores else { return HTTPRoute(refusing: HTTPResponse(.unauthorized)) }
        return HTTPRoute(bodyLimit: bodyLimit, streamsBody: streams, account: account) { _ in HTTPResponse(.notFound) }
    }

    /// Lets go of the requests, as handlers do that are done.
    func forgetAll() {
        requests = []
        running = []
        bodies = []
    }

    func start(
        _ request: HTTPRequest, by route: HTTPRoute, body: RequestBody?, answerTo stream: any ResponseStream
    ) -> any RunningRequest {
        let run = FakeRunning(stream)
        requests.append(request)
        bodies.append(body)
        running.append(run)
        answer(request, stream)
        return run
    }
}

final class FakeRunning: RunningRequest {
    let stream: any ResponseStream
    private(set) var rooms = 0
    private(set) var cancellations = 0

    init(_ stream: any ResponseStream) {
        self.stream = stream
    }

    func roomAppeared() {
        rooms += 1
    }

    func cancel() {
        cancellations += 1
    }
}

/// Collects what a client protocol tells of one answer.
final class FakeReceiver: ResponseReceiver {
    private(set) var head: HTTPResponse?
    private(set) var body: [UInt8] = []
    private(set) var isFinished = false
    private(set) var error: TransportError?
    let bodyLimit: Int?

    init(bodyLimit: Int? = 16 << 20) {
        self.bodyLimit = bodyLimit
    }

    func receivedHead(_ head: HTTPResponse) {
        self.head = head
    }

    func receivedBody(_ bytes: UnsafeRawBufferPointer) {
        body += bytes
    }

    func finished() {
        isFinished = true
    }

    func failed(_ error: TransportError) {
        self.error = error
    }
}

final class FakeOwner: ClientProtocolOwner {
    var hasSingleRequests = false
    /// What the owner does when it hears of capacity.
    var work: () -> Void = {}
    private(set) var changes = 0

    func capacityChanged() {
        changes += 1
        work()
    }
}

let testOrigin = HTTPOrigin(scheme: .https, host: "push.example", port: 443)

/// A server session and a client session, back to back.
struct SessionPair {
    let serverConnection = FakeConnection()
    let clientConnection = FakeConnection()
    let dispatch: FakeDispatch
    let owner = FakeOwner()
    let control: HTTP2ConnectionControl
    let server: HTTP2ServerSession
    let client: HTTP2ClientSession

    init(
        limits: ServerLimits = ServerLimits(), server settings: HTTP2Settings = HTTP2Settings(),
        client clientSettings: HTTP2Settings = HTTP2Settings(), dispatch: FakeDispatch = FakeDispatch()
    ) {
        let info = HTTPConnection(id: 7, peer: "192.0.2.1", isSecure: true, majorVersion: 2)
        self.dispatch = dispatch
        control = HTTP2ConnectionControl(connection: info, wake: {})
        server = HTTP2ServerSession(
            connection: serverConnection, dispatch: dispatch, info: info, limits: limits, settings: settings,
            control: control)
        client = HTTP2ClientSession(connection: clientConnection, owner: owner, settings: clientSettings)
    }

    func run(cut: Cut = .whole) {
        exchange(client, server, cut: cut)
    }

    /// Starts a request; the SETTINGS of both sides have been exchanged by then.
    @discardableResult
    func start(_ request: HTTPRequest) -> FakeReceiver {
        let receiver = FakeReceiver()
        _ = client.start(request, to: testOrigin, receiver: receiver)
        return receiver
    }

    /// Later, for both sides.
    func pass(_ time: Duration) {
        clientConnection.now += time
        serverConnection.now += time
    }
}
