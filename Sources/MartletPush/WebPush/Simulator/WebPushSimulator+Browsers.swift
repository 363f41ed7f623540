import MartletCrypto
public import MartletModel

/// Serves real browsers with the part of Mozilla's protocol that Firefox needs (BrowserPush.md, sections 2 to 5).
extension WebPushSimulator: DeviceSocketSimulator {
    public static let socketProtocol = "push-notification"

    /// The close code after a message that the protocol does not allow.
    private static let policyViolation: UInt16 = 1008
    /// The close code for the previous connection of a browser that has connected again.
    private static let normal: UInt16 = 1000

    public var connectedDevices: JSON { .array(browsers.all.map(\.json)) }

    public var sockets: [UInt64] { browsers.all.compactMap(\.socket) }

    public mutating func receive(_ text: String, on socket: UInt64, at now: Timestamp) -> [SocketStep] {
        guard let message = BrowserMessage(text) else {
            count("browser.unknown")
            return [SocketStep(socket, .close(code: Self.policyViolation))]
        }
        switch (message, browsers.id(on: socket)) {
        case (.ping, _):
            count("browser.ping")
            return [SocketStep(socket, .send("{}"))]
        case (.hello(let id), nil): return greet(id, on: socket, at: now)
        case (.hello, _?), (_, nil): return [SocketStep(socket, .close(code: Self.policyViolation))]
        case (.register(let channel, let key), let id?):
            return [SocketStep(socket, .send(register(channel, key, for: id).text))]
        case (.unregister(let channel, let code), let id?):
            count("browser.unregister.\(code ?? 200)")
            unregister(channel, for: id, at: now)
            let answer: JSON = ["messageType": "unregister", "channelID": .string(channel), "status": 200]
            return [SocketStep(socket, .send(answer.text))]
        case (.acknowledge(let updates), let id?):
            for update in updates { acknowledge(update, by: id) }
        case (.complain(let code), _): count("browser.nack.\(code ?? 0)")
        case (.subscribeToBroadcasts, _): break
        }
        return []
    }

    public mutating func socketClosed(_ socket: UInt64) {
        guard let id = browsers.disconnect(socket), let browser = browsers[id] else { return }
        for channel in browser.channels.values { devices.stopListening(channel.endpoint) }
    }

    /// Sends a message to a browser, immediately or when the browser connects.
    ///
    /// The message is sent again on each new connection until the browser acknowledges it or it expires. A message with
    /// a time to live of 0 is lost if the browser is not connected now.
    mutating func deliver(_ push: WebPushSimulatedPush, id: String, to channel: BrowserChannel) -> [SocketStep] {
        let message = SimulatedBrowser.Message(
            id: id, channel: channel.channel, body: push.body, topic: push.topic,
            keptUntil: push.acceptedAt + .seconds(push.timeToLive))
        let socket = browsers.with(channel.browser) { browser in
            if browser.socket != nil || push.timeToLive > 0 { browser.keep(message) }
            return browser.socket
        }
        guard let socket = socket ?? nil else { return [] }
        return [SocketStep(socket, .send(Self.notification(message)))]
    }

    /// Answers the hello of a browser.
    ///
    /// If the answer assigns a new id to the browser, the browser drops its subscriptions and notifies its pages.
    private mutating func greet(_ id: String?, on socket: UInt64, at now: Timestamp) -> [SocketStep] {
        count("browser.hello")
        let (id, last) = browsers.connect(id, on: socket)
        let hello: JSON = [
            "messageType": "hello", "uaid": .string(id), "status": 200, "use_webpush": true, "broadcasts": .object([:]),
        ]
        var steps = [SocketStep(socket, .send(hello.text))]
        if let last { steps.append(SocketStep(last, .close(code: Self.normal))) }
        let channels = browsers[id]?.channels.values.map(\.endpoint) ?? []
        for endpoint in channels where last == nil { _ = devices.startListening(endpoint, at: now) }
        let waiting = browsers.with(id) { $0.waiting(at: now) } ?? []
        return steps + waiting.map { SocketStep(socket, .send(Self.notification($0))) }
    }

    private mutating func register(_ channel: String, _ key: String?, for id: String) -> JSON {
        count("browser.register")
        var answer: [String: JSON] = ["messageType": "register", "channelID": .string(channel)]
        let point = key.flatMap { WebPushSubscription.decode($0.utf8) }
        guard key == nil || point.map({ P256PublicKey.isValid(rawPoint: $0) }) == true,
            let browser = browsers[id], browser.channels.count < SimulatedBrowser.channelLimit
        else {
            answer["status"] = 400
            return .object(answer)
        }
        let known = browser.channels[channel].flatMap { $0.senderKey == point ? $0 : nil }
        let made = known ?? add(channel, point, for: id)
        answer["status"] = 200
        answer["pushEndpoint"] = .string(made.endpoint)
        return .object(answer)
    }

    private mutating func add(_ channel: String, _ senderKey: [UInt8]?, for id: String) -> SimulatedBrowser.Channel {
        let token = Base64URL.encode(RandomBytes.generate(24))
        let made = SimulatedBrowser.Channel(
            token: token, endpoint: "\(origin)\(WebPushFlavour.mozilla.pathPrefix)\(token)", senderKey: senderKey)
        let replaced = browsers.with(id) { browser in
            let replaced = browser.remove(channel: channel)
            browser.channels[channel] = made
            return replaced
        }
        if let replaced = replaced ?? nil { subscriptions[replaced.token] = nil }
        subscriptions[token] = Subscription(
            handle: made.endpoint, keys: .browser(BrowserChannel(browser: id, channel: channel)), senderKey: senderKey)
        devices.add(made.endpoint, app: id, isListening: true)
        return made
    }

    private mutating func unregister(_ channel: String, for id: String, at now: Timestamp) {
        let removed = browsers.with(id) { $0.remove(channel: channel) }
        if let removed = removed ?? nil { _ = devices.remove(removed.endpoint, at: now) }
    }

    private mutating func acknowledge(_ update: BrowserMessage.Update, by id: String) {
        count("browser.ack.\(update.code)")
        let endpoint = browsers.with(id) { browser in
            browser.acknowledge(.init(id: update.version, channel: update.channel, code: update.code))
            return browser.channels[update.channel]?.endpoint
        }
        if let endpoint = endpoint ?? nil {
            devices.record(WebPushSimulatedPush.acknowledged(update.code), on: update.version, of: endpoint)
        }
    }

    private static func notification(_ message: SimulatedBrowser.Message) -> String {
        var members: [String: JSON] = [
            "messageType": "notification", "channelID": .string(message.channel), "version": .string(message.id),
        ]
        if !message.body.isEmpty {
            members["data"] = .string(Base64URL.encode(message.body))
            members["headers"] = ["encoding": "aes128gcm"]
        }
        return JSON.object(members).text
    }
}

/// One subscription of a real browser.
struct BrowserChannel: Hashable {
    /// The id that was assigned to the browser.
    let browser: String
    /// The id that the browser assigned to the subscription.
    let channel: String
}
